"""Go projects: modules, and which files a build leaves out."""
