"use strict";
// Loaded into every language server that runs on Node, before its own code (NODE_OPTIONS). Inside
// such a process no connection is made, no other program is started than Node itself and those
// named in SIGHTLINE_GUARD_PROGRAMS, and no JavaScript below a root (SIGHTLINE_GUARD_ROOTS) is run.
// Servers are honest programs that read hostile projects; this is not a sandbox for hostile servers.

const child = require("node:child_process");
const dgram = require("node:dgram");
const dns = require("node:dns");
const Module = require("node:module");
const net = require("node:net");
const path = require("node:path");
const fs = require("node:fs");
const threads = require("node:worker_threads");
const { fileURLToPath } = require("node:url");
const { isMainThread } = threads;

const list = (name) => (process.env[name] || "").split(path.delimiter).filter(Boolean);
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

// Code.
function isOfARoot(file) {
  let real = file;
  try {
    real = fs.realpathSync(file);
  } catch {
    // What is not there is not run.
  }
  return roots.some((root) => real.startsWith(root + path.sep));
}
function check(file) {
  if (isOfARoot(file)) throw refusal("MODULE_NOT_FOUND", "code of a workspace is not run");
}
function checkUrl(url) {
  if (String(url).startsWith("file:")) check(fileURLToPath(url));
}

const load = Module._load;
Module._load = function (request, parent, isMain) {
  if (!Module.isBuiltin(request)) {
    const found = Module._resolveFilename(request, parent, isMain);
    if (path.isAbsolute(found)) check(found);
  }
  return load.call(this, request, parent, isMain);
};
if (isMainThread && process.argv[1]) check(process.argv[1]);
threads.Worker = class Worker extends threads.Worker {
  constructor(file, options) {
    if (file instanceof URL) checkUrl(file.href);
    else if (!(options && options.eval)) check(path.resolve(String(file)));
    super(file, options);
  }
};

// What is imported. Older Nodes ask another thread about it, which is told the same.
const hooks = `
  import { realpathSync } from "node:fs";
  import { fileURLToPath } from "node:url";
  export async function load(url, context, next) {
    if (url.startsWith("file:")) {
      const real = realpathSync(fileURLToPath(url));
      if (${JSON.stringify(roots.map((root) => root + path.sep))}.some((r) => real.startsWith(r))) {
        throw Object.assign(new Error("code of a workspace is not run"), { code: "ERR_MODULE_NOT_FOUND" });
      }
    }
    return next(url, context);
  }`;
if (Module.registerHooks) {
  Module.registerHooks({
    load(url, context, next) {
      checkUrl(url);
      return next(url, context);
    },
  });
} else if (Module.register) {
  Module.register(`data:text/javascript,${encodeURIComponent(hooks)}`);
}
