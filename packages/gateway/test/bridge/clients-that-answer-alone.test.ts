import { ledgerFolder, readFiles } from "@fairlead/core/policy/ledger/ledger";
import { stdioServer } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { allowAll, type GatewayScene, gatewayScene } from "../support/gateway-scene.ts";
import { type ClientScript, scriptedClient } from "../support/scripted-client.ts";
import { steppedClock } from "../support/stepped-clock.ts";

const askAll = allowAll.replaceAll('"allow"', '"ask_user"');
const both = { elicitation: { form: {}, url: {} } };

async function scene() {
  const clock = steppedClock();
  const here = await gatewayScene({ servers: { fx: stdioServer("conformance") }, rules: askAll, clock });
  return { ...here, clock };
}

const tool = "test_simple_text";

/** The answers in the history, with their places. A refusal by the `user` is shown as "you said no". */
async function answersIn({ gateway, state }: GatewayScene): Promise<readonly unknown[]> {
  await gateway[Symbol.asyncDispose]();
  const rows: JsonObject[] = [];
  for await (const lines of readFiles(ledgerFolder(state)))
    rows.push(...lines.filter(Boolean).map((line) => JSON.parse(line) as JsonObject));
  return rows
    .filter(({ client }) => client !== undefined)
    .map(({ answer, refusal, answeredIn }) => [answer ?? refusal, answeredIn]);
}

/** Codex as measured: it declares addresses before its protocol version has them, and opens none with `http:`. */
const codex = (form: ClientScript["elicited"]): ClientScript => ({
  name: "codex",
  version: "2025-06-18",
  capabilities: both,
  elicited: (params) => (String(params["url"]).startsWith("http:") ? { action: "decline" } : form(params)),
});

test("Codex asks its user in a form, and the user's yes runs the call", async () => {
  await using here = await scene();
  await using client = await scriptedClient(
    here,
    codex(() => ({ action: "accept", content: { decision: "once" } })),
  );
  expect(await client.call(tool, {})).not.toHaveProperty("isError", true);
  expect(client.asked.map(({ mode }) => mode)).toEqual([undefined]);
  expect(await answersIn(here)).toEqual([["asked", "form"]]);
});

test("addresses count from version 2025-11-25 on, and forms count without them", async () => {
  await using here = await scene();
  for (const [version, modes] of [
    ["2025-06-18", [undefined]],
    ["2025-11-25", ["url", undefined]],
    ["2026-07-28", ["url", undefined]],
  ] as const) {
    for (const capabilities of [both, { elicitation: { url: {} } }]) {
      await using client = await scriptedClient(here, {
        name: "any",
        version,
        capabilities,
        elicited: () => ({ action: "decline" }),
      });
      await client.call(tool, {});
      // From 2025-11-25 on, a client that declares addresses only has no forms.
      const isWithoutForms = version !== "2025-06-18" && capabilities !== both;
      expect(client.asked.map(({ mode }) => mode)).toEqual(isWithoutForms ? ["url"] : modes);
    }
  }
});

test.for([
  ["codex exec", "2025-06-18", "cancel"],
  ["codex exec", "2025-06-18", "decline"],
  ["claude -p", "2025-11-25", "cancel"],
  ["claude -p", "2026-07-28", "cancel"],
  ["a client that declines by itself", "2025-11-25", "decline"],
  ["a client that declines by itself", "2026-07-28", "decline"],
] as const)("%s (%s) answers %s without asking: its request waits in the inbox", async ([name, version, action]) => {
  await using here = await scene();
  await using client = await scriptedClient(here, { name, version, capabilities: both, elicited: () => ({ action }) });
  const refused = await client.call(tool, {});
  const [entry] = await here.inbox.list();
  expect(refused).toMatchObject({
    isError: true,
    content: [
      {
        text: expect.stringContaining(
          `Not run: fx.${tool} needs approval. To approve it, run: fairlead approvals allow ${entry?.id}, then call it again. Fairlead asks because `,
        ),
      },
    ],
  });
  expect(client.asked.map(({ mode }) => mode)).toEqual(version === "2025-06-18" ? [undefined] : ["url", undefined]);

  await here.inbox.answer(entry?.id ?? "", "once", "fairlead approvals");
  expect(await client.call(tool, {})).not.toHaveProperty("isError", true);
  expect(await answersIn(here)).toEqual([
    ["no_terminal", undefined],
    ["asked", "grant"],
  ]);
});

test.for(["2025-06-18", "2025-11-25", "2026-07-28"])(
  "in version %s a client that sends the form's default by itself gives no answer for its user",
  async (version) => {
    await using here = await scene();
    await using client = await scriptedClient(here, {
      name: "headless",
      version,
      capabilities: { elicitation: {} },
      elicited: () => ({ action: "accept", content: { decision: "no" } }),
    });
    expect(JSON.stringify(await client.call(tool, {}))).toContain("To approve it, run: fairlead approvals allow");
    expect(await here.inbox.list()).toHaveLength(1);
    expect(await answersIn(here)).toEqual([["no_terminal", undefined]]);
  },
);

test.for(["2025-11-25", "2026-07-28"])(
  "in version %s a person's late answers count: decline is a no, cancel leaves the request open",
  async (version) => {
    await using here = await scene();
    const actions = ["decline", "cancel"];
    await using client = await scriptedClient(here, {
      name: "cursor",
      version,
      capabilities: { elicitation: {} },
      elicited() {
        here.clock.pass(500);
        return { action: actions.shift() ?? "" };
      },
    });
    expect(JSON.stringify(await client.call(tool, {}))).toContain("denied: the user declined it");
    expect(await here.inbox.list()).toEqual([]);
    expect(JSON.stringify(await client.call(tool, {}))).toContain("To approve it, run: fairlead approvals allow");
    expect(await here.inbox.list()).toHaveLength(1);
    expect(await answersIn(here)).toEqual([
      ["user", "form"],
      ["no_terminal", undefined],
    ]);
  },
);

test.for(["2025-11-25", "2026-07-28"])(
  "in version %s a page that was opened is shown: decline is a no, cancel leaves the request open",
  async (version) => {
    await using here = await scene();
    const actions = ["decline", "cancel"];
    await using client = await scriptedClient(here, {
      name: "cursor",
      version,
      capabilities: both,
      async elicited({ url }) {
        here.pages.visit(url);
        return { action: actions.shift() ?? "" };
      },
    });
    expect(JSON.stringify(await client.call(tool, {}))).toContain("denied: the user declined it");
    expect(JSON.stringify(await client.call(tool, {}))).toContain("To approve it, run: fairlead approvals allow");
    expect(client.asked.map(({ mode }) => mode)).toEqual(["url", "url"]);
    expect(await here.inbox.list()).toHaveLength(1);
    expect(await answersIn(here)).toEqual([
      ["user", "form"],
      ["no_terminal", undefined],
    ]);
  },
);
