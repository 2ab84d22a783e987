import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import type { AllowedTools } from "@fairlead/core/policy/rules/load-policies";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { expect, test } from "vitest";
import { createAllowedNotes, readAllowed } from "../../src/headless/allowed.ts";
import { writtenOutput } from "../support/written-output.ts";

const { context } = writtenOutput();
// A word that names one server for sure needs no catalog, so no host is opened.
const read = (...words: readonly string[]): Promise<readonly AllowedTools[]> =>
  readAllowed(words, ["a", "b", "long"], {} as Configuration, context);

test("a tool and a whole server are read without opening a host", async () => {
  expect(await read("b.x", "a", "a.x.y")).toEqual([
    { server: "b", tool: "x" },
    { server: "a" },
    { server: "a", tool: "x.y" },
  ]);
  expect(await read()).toEqual([]);
});

test.each([
  ["x.y", "server_unknown", 'there is no server "x"; did you mean "a"?'],
  ["lon.y", "server_unknown", 'there is no server "lon"; did you mean "long"?'],
  ["unknown", "usage", '"unknown" is not of the form server.tool'],
])("the word %s is a mistake", async (word, code, message) => {
  const error = await read(word).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HostError);
  expect(error).toMatchObject({ code, message });
});

test("the user is warned once of each tool that its server does not have, as soon as the server's tools are known", () => {
  const catalogs = new Map([["a", ["read", "write"]]]);
  const host = {
    catalog: (name: string) => {
      const tools = catalogs.get(name)?.map((tool) => ({ name: tool }));
      return tools && { tools };
    },
  } as unknown as Host;
  const notes = createAllowedNotes(
    [
      { server: "a" },
      { server: "a", tool: "read" },
      { server: "a", tool: "raed" },
      { server: "a", tool: "r*" },
      { server: "a", tool: "r*", isPattern: true },
      { server: "a", tool: "x*", isPattern: true },
      { server: "b", tool: "x" },
    ],
    host,
  );
  expect(notes()).toEqual([
    '--allow: "a" has no tool "raed"; did you mean "read"?',
    '--allow: "a" has no tool "r*"',
    '--allow: no tool of "a" matches "x*"',
  ]);
  expect(notes()).toEqual([]);
  catalogs.set("b", ["y"]);
  expect(notes()).toEqual(['--allow: "b" has no tool "x"; did you mean "y"?']);
  expect(notes()).toEqual([]);
});
