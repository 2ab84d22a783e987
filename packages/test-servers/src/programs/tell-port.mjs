// Loaded before a server that is given port 0 and does not tell which one it got: says so on stderr when it listens.

import { Server } from "node:net";

const listen = Reflect.get(Server.prototype, "listen");
Server.prototype.listen = function tellPort(...args) {
  this.once("listening", () => process.stderr.write(`listening on ${this.address().port}\n`));
  return listen.apply(this, args);
};
