import { describe, expect, test } from "vitest";
import type { ServerDefinition } from "../../../src/settings/define/definition.ts";
import { expandTransport, parseVariables, renderer } from "../../../src/settings/define/expand.ts";
import { createWorld, serverOf } from "../../support/load-settings.ts";

const env = { A: "a", EMPTY: "" };

/** The server of one user entry, with its mistakes as `code message → advice`. */
async function load(entry: object, workspaceEnv = "") {
  await using world = await createWorld();
  await world.writeUser({ mcpServers: { s: entry } });
  await world.folder.write("workspace/.env", workspaceEnv);
  const { definition, problems } = serverOf(await world.load({ env }), "s");
  return { definition, mistakes: problems.map(({ code, message, next }) => `${code} ${message} → ${next}`) };
}

const shown = "a command and its folder are shown to the user, so they must not contain a secret";
const instead = 'Pass the secret in "env" instead.';
const only =
  'which only the workspace\'s .env file sets; Fairlead uses that file only for "env" and "headers" of this entry, because the entry is not in the workspace\'s settings';

test.each<[entry: object, mistakes: readonly string[], workspaceEnv?: string]>([
  [
    { command: "x", args: ["a", "${A"] },
    [
      'settings_invalid server "s": "args[1]" cannot be expanded: "${A" has no closing "}" → Write $$ for a dollar sign.',
    ],
  ],
  [
    { command: "${secret:S}", cwd: "/${secret:S}/${secret:S}" },
    [
      `settings_invalid server "s": "command" uses the secret S; ${shown} → ${instead}`,
      `settings_invalid server "s": "cwd" uses the secret S; ${shown} → ${instead}`,
    ],
  ],
  [
    { command: "x", args: ["$V"], env: { V: "$V" } },
    [
      `variable_unset server "s": "args[0]" uses the variable V, ${only} → Set V in the environment or in ~/.gemini/.env.`,
    ],
    "V=planted\n",
  ],
  [
    { url: "https://h/", headers: { A: "$N $N $M", B: "${N:-d}" } },
    ["N", "M"].map(
      (name) =>
        `variable_unset server "s": "headers.A" uses the variable ${name}, which is not set → Set ${name} in the environment or in ~/.gemini/.env, or write \${${name}:-default}.`,
    ),
  ],
])("a mistake in a reference comes with advice: %j", async (entry, mistakes, workspaceEnv) => {
  expect((await load(entry, workspaceEnv)).mistakes).toEqual(mistakes);
});

test.each<[url: string, end: string | undefined]>([
  ["https://${secret:HOST}/", undefined],
  ["${secret:URL}", undefined],
  ["${secret:SCHEME}://h", undefined],
  ["https://${NONE:-h}/", undefined],
  ["nowhere", 'is "nowhere", which is not a URL'],
  ["${NONE:-nowhere}", 'is "${NONE:-nowhere}", which is not a URL once its variables are filled in'],
  [
    "ftp://${secret:HOST}",
    'is "ftp://${secret:HOST}", which is not an http:// or https:// URL once its variables are filled in',
  ],
  ["ftp://$NONE", "uses the variable NONE, which is not set"],
])("a URL is checked as far as its values are there: %s", async (url, end) => {
  const { mistakes } = await load({ url });
  expect(mistakes.map((line) => line.split(" → ")[0]?.replace(/^.*"url" /, ""))).toEqual(
    end === undefined ? [] : [end],
  );
});

test("variables are listed once, with the source that counts", async () => {
  const { definition } = await load({
    command: "x",
    args: ["${A:-d}", "$A", "${EMPTY:-d}", "${N:-d}", "$N", "${N:-d}"],
  });
  expect(definition?.variables).toEqual([
    { name: "A", from: "environment" },
    { name: "EMPTY", from: "default" },
    { name: "N", from: "unset" },
  ]);
  expect(definition?.values).toEqual(
    new Map([
      ["A", "a"],
      ["EMPTY", ""],
    ]),
  );
});

describe("a server that cannot be reached says what is missing", () => {
  const fail = async (entry: object, secret: (name: string) => Promise<string | undefined>): Promise<unknown> =>
    expandTransport((await load(entry)).definition as ServerDefinition, secret).catch((error: unknown) => error);

  test("all its variables without a value", async () => {
    expect(await fail({ command: "x", args: ["$N", "$A", "$M"] }, async () => undefined)).toMatchObject({
      code: "variable_unset",
      message: '"s" cannot be reached: variables without a value: N, M',
      serverName: "s",
    });
  });

  test("the first secret that is not stored", async () => {
    const entry = { command: "x", env: { A: "${secret:ONE}", B: "${secret:TWO}", C: "${secret:THREE}" } };
    expect(await fail(entry, async (name) => (name === "ONE" ? "1" : undefined))).toMatchObject({
      code: "variable_unset",
      message: '"s" uses the secret TWO, which is not stored',
      serverName: "s",
      next: "fairlead secret set TWO",
    });
  });

  test.each<[entry: object, value: string, message: string]>([
    [
      { url: "${secret:S}" },
      "not a url",
      'the URL of "s" is not valid after its variables are replaced by their values',
    ],
    ...["\0", "\r", "\n"].map((character): [object, string, string] => [
      { url: "https://h/", headers: { A: "x", B: "${secret:S}" } },
      `a${character}b`,
      'the header B of "s" has a line break in its value',
    ]),
  ])("%j with a value that breaks it: %j", async (entry, value, message) => {
    expect(await fail(entry, async () => value)).toMatchObject({ code: "settings_invalid", message, serverName: "s" });
  });
});

test.each<[text: string, rendered: string]>([
  ["$A ${secret:S} ${secret:T} $N ${N:-d}", "a stored ${secret:T} ${N} d"],
  ["$$A", "$A"],
  ["${A", "${A"],
  ["", ""],
])("%j is rendered as %j, with unknown references as they are", (text, rendered) => {
  expect(renderer(new Map([["A", "a"]]), new Map([["S", "stored"]]))(text)).toBe(rendered);
});

test("a text is split into plain text and references", () => {
  expect(parseVariables("a$B-${C:-}${secret:D}$$ $1")).toEqual({
    kind: "parts",
    parts: [
      { kind: "text", text: "a" },
      { kind: "variable", name: "B" },
      { kind: "text", text: "-" },
      { kind: "variable", name: "C", fallback: "" },
      { kind: "secret", name: "D" },
      { kind: "text", text: "$" },
      { kind: "text", text: " $1" },
    ],
  });
  expect(parseVariables("plain")).toEqual({ kind: "parts", parts: [{ kind: "text", text: "plain" }] });
  expect(parseVariables("")).toEqual({ kind: "parts", parts: [] });
});
