import { expect, test } from "vitest";
import { credentialHint } from "../../src/connect/connect-failure.ts";
import type { ServerDefinition, Transport } from "../../src/settings/define/definition.ts";

const program = (...names: readonly string[]): Transport => ({
  kind: "stdio",
  command: "tool",
  args: [],
  env: new Map(names.map((name) => [name, "value"])),
});
const address: Transport = { kind: "http", url: "https://a.example", headers: new Map() };

const add = (name: string): string =>
  `Add "env": {"${name}": "$${name}"} to "db" (/s.json:4): servers get only the variables in their "env".`;
const need =
  'If the server needs credentials, add them to "env" of "db" (/s.json:4): servers get only the variables in their "env".';

test.each<[string, readonly string[], Transport, string | undefined]>([
  ["a variable that is not passed on", ["first", "set MY_TOKEN"], program(), add("MY_TOKEN")],
  ["the first of two such variables", ["set MY_KEY, or MY_TOKEN"], program("A"), add("MY_TOKEN")],
  ["a variable that Fairlead does not have", ["set YOUR_NAME"], program(), undefined],
  ["a part of another variable's name", ["set NOT_MY_TOKEN_X"], program(), need],
  ["credentials, with none in the entry", ["ok", "Invalid API key", "bye"], program(), need],
  [
    "credentials, with some in the entry",
    ["401"],
    program("A", "B"),
    'Check the values in "env" of "db" (/s.json:4): A, B.',
  ],
  ["nothing of the kind", ["disk full"], program("A"), undefined],
  ["nothing at all", [], program(), undefined],
  ["an address, which has no variables", ["set MY_TOKEN"], address, undefined],
])("stderr that names %s", (_, lines, transport, hint) => {
  const origin = { scope: "user", file: "/s.json", line: 4, column: 5 };
  const definition = { name: "db", transport, origin } as unknown as ServerDefinition;
  expect(credentialHint(lines, { definition, withheld: ["OTHER_ONE", "MY_TOKEN", "MY_KEY"] })).toBe(hint);
});
