/** Commands that print what a hostile server says: nothing that a terminal obeys is among it. */

import { hasUnseen } from "@fairlead/core/text/unseen";
import { hostileText, keepsPromise, type Random, type WebReply, webServer } from "@fairlead/test-servers";
import { test } from "vitest";
import { machine, userFile } from "../support/machine.ts";

interface Message {
  readonly id?: number;
  readonly method: string;
}

/** Every text of this server is hostile. */
function hostileServer(random: Random): WebReply {
  const text = (): string => hostileText(random);
  const results: Readonly<Record<string, () => object>> = {
    initialize: () => ({
      protocolVersion: "2025-11-25",
      capabilities: { tools: {}, prompts: {}, resources: {} },
      serverInfo: { name: text(), title: text(), version: text() },
      instructions: text(),
    }),
    "tools/list": () => ({
      tools: [
        {
          name: "echo",
          title: text(),
          description: text(),
          inputSchema: { type: "object", properties: { [text()]: { type: "string", description: text() } } },
          annotations: { title: text(), readOnlyHint: true, [text()]: text() },
        },
        { name: text(), description: text(), inputSchema: { type: "object" } },
      ],
    }),
    "prompts/list": () => ({ prompts: [{ name: text(), description: text(), arguments: [{ name: text() }] }] }),
    "resources/list": () => ({
      resources: [{ uri: `x:${text()}`, name: text(), description: text(), mimeType: text() }],
    }),
    "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: `x:${text()}{a}`, name: text() }] }),
    "tools/call": () => ({
      content: [
        { type: "text", text: text() },
        { type: "resource_link", uri: text(), name: text() },
        { type: text(), text: text() },
      ],
      isError: random(2) === 0,
    }),
  };
  return ({ method, body }, response) => {
    if (method !== "POST") return void response.writeHead(405).end();
    const message = JSON.parse(body) as Message;
    if (message.id === undefined) return void response.writeHead(202).end();
    const result = results[message.method];
    const answer = result ? { result: result() } : { error: { code: -32601, message: text() } };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer }));
  };
}

const commands = [
  ["tools", "--all"],
  ["tools", "--repairs"],
  ["tools", "--json"],
  ["mcp", "list"],
  ["mcp", "get", "odd"],
  ["prompts"],
  ["resources"],
  ["call", "odd.echo"],
  ["call", "odd.echo", "--json"],
  ["history"],
];

test("what commands print of a hostile server does nothing to a terminal", { timeout: 3_600_000 }, async () => {
  let printed = 0;
  await keepsPromise(
    {
      group: "terminal",
      promise: "no command prints anything of a hostile server that a terminal obeys or a reader cannot see",
      whole: 300,
      part: 3,
      together: 2,
      load: () => `${commands.length} commands each, ${(printed / 2 ** 20).toFixed(1)} MB of output checked`,
    },
    async (random) => {
      await using web = await webServer(hostileServer(random));
      await using here = await machine({ [userFile]: { mcpServers: { odd: { httpUrl: `${web.origin}/mcp` } } } });
      for (const words of commands) {
        const { stdout, stderr } = await here.run(...words);
        const output = `${stdout}${stderr}`;
        printed += output.length;
        if (hasUnseen(output.replaceAll(/[\n\t]|(?! )\p{Zs}/gu, "")))
          throw new Error(`${words.join(" ")} prints ${JSON.stringify(output)}`);
      }
    },
  );
});
