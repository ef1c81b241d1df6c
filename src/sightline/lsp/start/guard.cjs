"use strict";
// Loaded into every language server that runs on Node, before its own code (NODE_OPTIONS). Inside
// such a process no connection is made, no other program is started than Node itself and those
// named in SIGHTLINE_GUARD_PROGRAMS, and no JavaScript below a root (SIGHTLINE_GUARD_ROOTS) is run.
// Where SIGHTLINE_GUARD_READS names folders, no file outside of them is read for a project.
// Servers are honest programs that read hostile projects; this is not a sandbox for hostile servers.

const child = require("node:child_process");
const dgram = require("node:dgram");
const dns = require("node:dns");
const Module = require("node:module");
const net = require("node:net");
const path = require("node:path");
const fs = require("node:fs");
const url = require("node:url");

// JSON: no sign separates paths that may not be in one. What is no list ends the process here.
const list = (name) => JSON.parse(process.env[name] || "[]");
const roots = list("SIGHTLINE_GUARD_ROOTS");
const programs = new Set([process.execPath, ...list("SIGHTLINE_GUARD_PROGRAMS")]);

function refusal(code, message) {
  const error = new Error(message);
  error.code = code;
  return error;
}

// Connections. A pipe between processes of the same server has a path and no port.
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...given) {
  const options = Array.isArray(given[0]) ? given[0][0] : given[0];
  const local = typeof options === "string" ? options.startsWith("/") : options && options.path;
  if (local) return connect.apply(this, given);
  process.nextTick(() => this.destroy(refusal("ENETUNREACH", "the network is off")));
  return this;
};
function silence(holder, promises) {
  for (const name of Object.getOwnPropertyNames(holder)) {
    if (!/^(lookup|resolve|reverse)/.test(name) || typeof holder[name] !== "function") continue;
    holder[name] = (...given) => {
      const error = refusal("ENOTFOUND", "the network is off");
      const callback = given[given.length - 1];
      if (!promises && typeof callback === "function") process.nextTick(callback, error);
      else return Promise.reject(error);
    };
  }
}
silence(dns, false);
silence(dns.promises, true);
silence(dns.Resolver.prototype, false);
silence(dns.promises.Resolver.prototype, true);
for (const name of ["send", "connect", "bind"]) {
  dgram.Socket.prototype[name] = () => {
    throw refusal("ENETUNREACH", "the network is off");
  };
}

// Programs.
const spawn = child.ChildProcess.prototype.spawn;
child.ChildProcess.prototype.spawn = function (options) {
  if (!programs.has(options.file)) {
    throw refusal("EACCES", "other programs are not started here");
  }
  return spawn.call(this, options);
};
for (const name of ["spawnSync", "execFileSync", "execSync"]) {
  const original = child[name];
  child[name] = (file, ...rest) => {
    if (name === "execSync" || !programs.has(file)) {
      throw refusal("EACCES", "other programs are not started here");
    }
    return original(file, ...rest);
  };
}

// Code. What a process, a worker or a child is started with counts, too.
function isOfARoot(file) {
  if (!path.isAbsolute(file)) return false;
  let real = file;
  try {
    real = fs.realpathSync(file);
  } catch {
    // It is not there, and whoever loads it says so.
  }
  return roots.some((root) => real.startsWith(root + path.sep));
}
const load = Module._load;
Module._load = function (request, parent, isMain) {
  if (!Module.isBuiltin(request) && isOfARoot(Module._resolveFilename(request, parent, isMain))) {
    throw refusal("MODULE_NOT_FOUND", "code of a workspace is not run");
  }
  return load.call(this, request, parent, isMain);
};

// Files. What a document names is there or not, closed, a folder or a pipe: outside of the folders
// that may be asked about, all of it is said in the same words. What is no file is not waited for.
function isReadable(file, folders) {
  const below = (name) => folders.some((each) => name === each || name.startsWith(each + path.sep));
  if (!below(file)) return false;
  try {
    const real = fs.realpathSync(file);
    const status = below(real) && fs.statSync(real);
    return status && (status.isFile() || status.isDirectory());
  } catch {
    return false; // it is not there, or behind a link that leads nobody knows where
  }
}
function notThere(file) {
  const text = `ENOENT: no such file or directory, open '${file}'`;
  return Object.assign(refusal("ENOENT", text), { errno: -2, syscall: "open", path: file });
}
if (process.env.SIGHTLINE_GUARD_READS) {
  const folders = list("SIGHTLINE_GUARD_READS");
  for (const folder of [...folders]) {
    try {
      folders.push(fs.realpathSync(folder));
    } catch {
      // It is not there, and nothing is read from it.
    }
  }
  // What is open already was opened by the server itself.
  const refused = (file) => {
    const isName = typeof file === "string" || Buffer.isBuffer(file) || file instanceof URL;
    if (!isName) return null;
    const name = file instanceof URL ? url.fileURLToPath(file) : String(file);
    return isReadable(path.resolve(name), folders) ? null : notThere(name);
  };
  const { readFile } = fs;
  fs.readFile = function (file, ...rest) {
    const error = refused(file);
    if (error) process.nextTick(rest[rest.length - 1], error);
    else readFile.call(this, file, ...rest);
  };
  const promised = fs.promises.readFile;
  fs.promises.readFile = async function (file, ...rest) {
    const error = refused(file);
    if (error) throw error;
    return promised.call(this, file, ...rest);
  };
}

// Modules that are imported are loaded elsewhere: by hooks in this thread where Node has them, in a
// thread of their own where it has only those.
const hook = (isRefused) => (address, context, next) => {
  if (address.startsWith("file:") && isRefused(address)) {
    const error = new Error("code of a workspace is not run");
    error.code = "MODULE_NOT_FOUND";
    throw error;
  }
  return next(address, context);
};
if (Module.registerHooks) {
  Module.registerHooks({ load: hook((address) => isOfARoot(url.fileURLToPath(address))) });
} else if (Module.register) {
  const source = `
    import fs from "node:fs";
    import path from "node:path";
    import url from "node:url";
    let roots = [];
    export const initialize = (given) => { roots = given; };
    ${isOfARoot}
    export const load = (${hook})((address) => isOfARoot(url.fileURLToPath(address)));`;
  const address = `data:text/javascript,${encodeURIComponent(source)}`;
  Module.register(address, { data: roots });
}
