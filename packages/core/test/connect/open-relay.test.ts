import { EventEmitter, once } from "node:events";
import { expect, test } from "vitest";
import { openRelay } from "../../src/connect/open-relay.ts";
import { connection, script } from "./connection.ts";

test("a client's request with the id 1 does not clear the server's stderr", async () => {
  const code = `
    process.stderr.write("FATAL: no key\\n");
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id } = JSON.parse(line);
      if (id === 1) process.exit(3);
      process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: {} }) + "\\n");
    });`;
  await using server = await connection(script(code));
  const events = new EventEmitter();
  const started = Promise.all([once(events, "stderr"), once(events, "response")]);
  const relay = await openRelay(server.definition, server.context, {
    signal: new AbortController().signal,
    onReceived: () => void events.emit("response"),
    onStderrLine: () => void events.emit("stderr"),
  });
  relay.send({ jsonrpc: "2.0", id: 0, method: "ping" });
  await started;
  relay.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  expect((await relay.closed)?.evidence).toContain("FATAL: no key");
  await relay.close();
  expect(await server.log()).not.toContain("trying another protocol");
});
