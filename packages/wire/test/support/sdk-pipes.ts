/** The official client's transport over two pipes in this process, as it would speak to a program over stdio. */

import type { PassThrough } from "node:stream";
import type { Transport } from "@modelcontextprotocol/client";

export function pipeTransport({
  input,
  output,
}: {
  readonly input: PassThrough;
  readonly output: PassThrough;
}): Transport {
  let rest = "";
  const transport: Transport = {
    async start() {
      output.on("data", (chunk: Buffer) => {
        const lines = (rest + String(chunk)).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) transport.onmessage?.(JSON.parse(line));
      });
    },
    async send(message) {
      input.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      input.end();
      transport.onclose?.();
    },
  };
  return transport;
}
