import { describe, expect, test } from "vitest";
import { findToolTarget } from "../../src/targets/target.ts";

const servers = [
  { name: "a", tools: ["t", "b.c", "b.only"] },
  { name: "a.b", tools: ["c", "t"] },
  { name: "closed", tools: [] },
];

describe("server.tool finds the pair that exists", () => {
  test.each([
    ["a.t", { server: "a", tool: "t" }],
    ["a.b.t", { server: "a.b", tool: "t" }],
    ["a.b.only", { server: "a", tool: "b.only" }],
    // None exists: the longest server name is meant.
    ["a.b.x", { server: "a.b", tool: "x" }],
    ["a.x", { server: "a", tool: "x" }],
    // What it offers is not known.
    ["closed.x.y", { server: "closed", tool: "x.y" }],
  ])("%s", (word, target) => {
    expect(findToolTarget(word, servers)).toEqual(target);
  });
});

describe("or says what is wrong", () => {
  test.each([
    [
      "a.b.c",
      "usage",
      '"a.b.c" is ambiguous: more than one tool matches',
      "use --server a.b --tool c or --server a --tool b.c",
    ],
    ["a", "usage", '"a" is a server, not a tool', "fairlead tools a"],
    ["closed.", "usage", '"closed." is a server, not a tool', "fairlead tools closed"],
    ["b.only", "server_unknown", 'there is no tool "b.only"; did you mean "a.b.only"?', "fairlead tools"],
    ["clsoed.tool", "server_unknown", 'there is no server "clsoed"; did you mean "closed"?', "fairlead mcp list"],
    ["elsewhere.tool", "server_unknown", 'there is no server "elsewhere"', "fairlead mcp list"],
    // The first server that has the tool is suggested.
    ["t", "server_unknown", 'there is no tool "t"; did you mean "a.t"?', "fairlead tools"],
    ["else.where.tool", "server_unknown", 'there is no server "else"', "fairlead mcp list"],
    [".tool", "usage", '".tool" is not of the form server.tool', "fairlead tools"],
    ["nonsense", "usage", '"nonsense" is not of the form server.tool', "fairlead tools"],
    ["", "usage", '"" is not of the form server.tool', "fairlead tools"],
  ])("%s", (word, code, message, next) => {
    expect(() => findToolTarget(word, servers)).toThrow(expect.objectContaining({ code, message, next }) as Error);
  });
});
