/*
 * Passes connections on: `forwarder.mjs FROM TO PORT…` listens at the address FROM and connects to TO, at the same ports.
 * Prints `ready`. Ends with its stdin.
 */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { pipeline } from "node:stream";

const [from, to, ...ports] = process.argv.slice(2);
for (const port of ports) {
  const server = createServer((client) => {
    const target = connect(Number(port), to);
    pipeline(client, target, client, () => {
      client.destroy();
      target.destroy();
    });
  });
  server.listen(Number(port), from);
  await once(server, "listening");
}
process.stdout.write("ready\n");
process.stdin.resume().on("end", () => process.exit());
