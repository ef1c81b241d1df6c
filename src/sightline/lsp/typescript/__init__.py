"""TypeScript and JavaScript projects: configurations, packages, what must be open."""
