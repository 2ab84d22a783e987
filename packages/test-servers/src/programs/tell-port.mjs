// Loaded before a server that listens on port 0 and does not print its port: prints the port to stderr.

import { Server } from "node:net";

const listen = Reflect.get(Server.prototype, "listen");
Server.prototype.listen = function tellPort(...args) {
  // By default a server closes a connection that was idle for 5 s. A client on a busy machine may be sending on it just then.
  if ("keepAliveTimeout" in this) this.keepAliveTimeout = 600_000;
  this.once("listening", () => process.stderr.write(`listening on ${this.address().port}\n`));
  return listen.apply(this, args);
};
