import { everythingServer, realServer } from "@fairlead/test-servers";
import { connect, type Target } from "@fairlead/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEmitter } from "../../src/events.ts";
import { completeArgument } from "../../src/resources/completion.ts";
import { readPromptCall } from "../../src/resources/prompt-arguments.ts";
import { toPromptMessages } from "../../src/resources/prompt-messages.ts";
import { readReferences, resolveReferences } from "../../src/resources/references/references.ts";
import { createSubscriptions } from "../../src/resources/subscriptions.ts";
import { Connection } from "../../src/server/connection.ts";
import { DiscoveredMCPPrompt } from "../../src/server/discovered-prompt.ts";
import { PromptRegistry, ResourceRegistry } from "../../src/server/registries.ts";
import { expandTemplate } from "../../src/text/uri-template.ts";
import { manualClock } from "../support/manual-clock.ts";

type Transport = "stdio" | "sse" | "streamableHttp";

/** The reference server under the name `all`, with its lists in the registries. */
async function everything(transport: Transport) {
  const web = transport === "stdio" ? undefined : await everythingServer(transport);
  const env = { PATH: process.env["PATH"] ?? "" };
  const target: Target =
    web === undefined
      ? { kind: "stdio", ...realServer("everything"), env, cwd: process.cwd() }
      : { kind: transport === "sse" ? "sse" : "http", url: web.url, headers: {} };
  const { on, emit } = createEmitter();
  const client = new Connection({
    definition: { name: "all", excludeTools: [] },
    connectTimeout: 30_000,
    open: ({ signal, onNotification }) =>
      connect(target, { clientInfo: { name: "test", version: "1" }, signal, onNotification }),
    onState: (state) => emit({ type: "state", state }),
    onNews: emit,
  });
  await client.ready();
  const {
    resources: listed = [],
    resourceTemplates = [],
    prompts: offered = [],
  } = client.filteredCatalog?.catalog ?? {};
  const resources = new ResourceRegistry();
  resources.replaceServer("all", { resources: listed, resourceTemplates });
  const prompts = new PromptRegistry();
  for (const { name: serverPromptName, arguments: wanted } of offered)
    prompts.registerPrompt(
      new DiscoveredMCPPrompt({
        serverName: "all",
        serverPromptName,
        arguments: wanted,
        get: (name, values, signal) => client.getPrompt(name, values, { signal }),
      }),
    );
  return {
    client,
    on,
    emit,
    prompts,
    source: { servers: ["all"], resources },
    server: client,
    async [Symbol.asyncDispose]() {
      await client.close();
      await web?.[Symbol.asyncDispose]();
    },
  };
}

describe.each<Transport>(["stdio", "sse", "streamableHttp"])("the reference server over %s", (transport) => {
  let at: Awaited<ReturnType<typeof everything>>;
  beforeAll(async () => {
    at = await everything(transport);
  });
  afterAll(() => at[Symbol.asyncDispose]());

  test("gives what a person refers to, listed or by a template", async () => {
    const template = at.client.filteredCatalog?.catalog.resourceTemplates.find(({ uriTemplate }) =>
      /text/.test(uriTemplate),
    );
    const uri = expandTemplate(template?.uriTemplate ?? "", { resourceId: "7" });
    const listed = at.client.filteredCatalog?.catalog.resources[0]?.uri ?? "";
    const pieces = await resolveReferences(
      `See @${listed}, @all:${uri} and @all://resource/dynamic/blob/2.`,
      at.source,
    );
    expect(pieces.flatMap((piece) => (piece.kind === "resource" ? [piece.uri] : []))).toEqual([
      listed,
      "demo://resource/dynamic/text/7",
      "demo://resource/dynamic/blob/2",
    ]);
    const { parts, problems } = await readReferences(pieces, {
      readResource: (_server, wanted, signal) => at.client.readResource(wanted, { signal }),
    });
    expect(problems).toEqual([]);
    const told = parts.map((part) => part.text).join("\n");
    expect(told).toContain("Resource 7: This is a plaintext resource");
    expect(told).toContain("Resource 2: This is a base64 blob");
  });

  test("gives a prompt with its arguments, and all of its messages", async () => {
    const weather = readPromptCall("/args-prompt New York --state=NY", at.prompts);
    expect(weather).toEqual({ server: "all", prompt: "args-prompt", args: { city: "New York", state: "NY" } });
    const embedded = readPromptCall("/all:resource-prompt Text 3", at.prompts);
    const result = await at.client.getPrompt(embedded?.prompt ?? "", embedded?.args ?? {});
    const messages = await toPromptMessages(result, { server: "all", nonce: "n0" });
    expect(messages.map(({ role, parts }) => [role, parts.length])).toEqual([
      ["user", 1],
      ["user", 4],
    ]);
    expect(messages[1]?.parts[2]?.text).toContain("Resource 3: This is a plaintext resource");
  });

  test("completes arguments, one in the light of another, and variables", async () => {
    const of = { kind: "prompt", server: "all", prompt: "completable-prompt" } as const;
    expect(await completeArgument({ of, name: "department", value: "S" }, at)).toEqual(["Sales", "Support"]);
    const given = { department: "Sales" };
    expect(await completeArgument({ of, name: "name", value: "", given }, at)).toEqual(["David", "Eve", "Frank"]);
    const uriTemplate = "demo://resource/dynamic/text/{resourceId}";
    const variable = { of: { kind: "template", server: "all", uriTemplate }, name: "resourceId", value: "12" } as const;
    expect(await completeArgument(variable, at)).toEqual(["12"]);
  });

  test("tells when a resource changes", async () => {
    const updated = new Promise((resolve) => at.on("resource_updated", ({ uri: told }) => resolve(told)));
    using subscriptions = createSubscriptions({
      on: at.on,
      emit: at.emit,
      servers: { get: () => expect.fail("it has a connection of its own"), find: () => undefined },
      clock: manualClock(),
    });
    const uri = "demo://resource/dynamic/text/1";
    using _held = await subscriptions.subscribe("all", uri, undefined, at.client);
    await at.client.callTool("toggle-subscriber-updates", {});
    expect(await updated).toBe(uri);
  });
});
