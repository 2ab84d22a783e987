import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { type Ending, machine, userFile } from "../support/machine.ts";

async function run(...argv: readonly string[]): Promise<Ending> {
  await using here = await machine({
    [userFile]: { mcpServers: { odd: stdioServer("odd-parameters") } },
    "project/tag.txt": "from a file",
  });
  // Awaited here: the machine is gone at the end of the scope.
  return await here.run("call", ...argv);
}

describe("what a server is sent", () => {
  test.each([
    [["odd.strict", "id=7"], { id: 7 }],
    [["odd.strict", "id=7", "tags=a"], { id: 7, tags: ["a"] }],
    [
      ["odd.strict", "id=7", "tags=a", "tags=b,c", 'tags:="d"', "tags=@tag.txt"],
      { id: 7, tags: ["a", "b,c", "d", "from a file"] },
    ],
    [["odd.strict", "id=7", 'tags=["a","b"]'], { id: 7, tags: ["a", "b"] }],
    [["odd.strict", "id=7", "mode=fast", "limit=null"], { id: 7, mode: "fast", limit: null }],
    [["odd.strict", "id=7", "mode=null", "limit=0.5"], { id: 7, mode: null, limit: 0.5 }],
    [["odd.strict", "id=7", 'filter={"a": [1]}', "note={}"], { id: 7, filter: { a: [1] }, note: "{}" }],
    [["odd.strict(7, ['a'], filter: {k: 'v'})"], { id: 7, tags: ["a"], filter: { k: "v" } }],
    [["odd.open", "a=1", "b=2"], { a: 1, b: 2 }],
  ])("%j", async (argv, sent) => {
    const { code, stdout, stderr } = await run(...argv);
    expect({ code, stderr, sent: JSON.parse(stdout) }).toEqual({ code: 0, stderr: "", sent });
  });
});

describe("names that the tool does not list", () => {
  test("are refused where its schema forbids them", async () => {
    expect(await run("odd.strict", "id=7", "tag=a")).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(
        /^fairlead: odd\.strict has no parameter "tag"; did you mean "tags"\?\n {2}next: match the signature: strict\(id: integer, /,
      ),
    });
  });

  test("are sent, with a word about it, where it does not say", async () => {
    expect(await run("odd.loose", "id=7", "tag=a")).toEqual({
      code: 0,
      stdout: '{"id":7,"tag":"a"}\n',
      stderr: 'note: odd.loose has no parameter "tag" (did you mean "tags"?); Fairlead sends the argument anyway\n',
    });
  });

  test.each([
    [["odd.loose", "idd=7"], 'odd.loose needs "id"; it has no parameter "idd"; did you mean "id"?'],
    [["odd.loose", "zzzzzz=7"], 'odd.loose needs "id"; it has no parameter "zzzzzz"'],
    [["demo.greet", "nm=Ada"], 'demo.greet has no parameter "nm"; did you mean "name"?'],
    [["demo.greet", "name=Ada", "lang=fr"], 'demo.greet has no parameter "lang"; did you mean "language"?'],
  ])("are named, with what may be meant: %j", async (argv, message) => {
    const { code, stderr } = await run(...argv);
    expect([code, stderr.split("\n")[0]]).toEqual([2, `fairlead: ${message}`]);
  });
});

test.each([
  ["filter:=@twice.json", "filter"],
  ['filter={"a": 1, "a": 2}', "filter"],
  ['filter:=[{"a": {"b": ":"}, "\\u0061": 2}]', "filter"],
  ['--args={"id": 7, "filter": {"a": 1, "b": {"a": 2}, "a": 3}}', "--args"],
])("a name that is given twice is not sent: %s", async (word, where) => {
  await using here = await machine({
    [userFile]: { mcpServers: { odd: stdioServer("odd-parameters") } },
    "project/twice.json": '{"a": {}, "a": {}}',
  });
  const words = word.startsWith("--") ? [word] : ["id=7", word];
  expect(await here.run("call", "odd.strict", ...words)).toEqual({
    code: 2,
    stdout: "",
    stderr: `fairlead: ${where} has the key "a" twice in one object\n`,
  });
});

test("a name may stand in as many objects as there are", async () => {
  const filter = '{"a": {"a": "\\"a\\":"}, "b": [{"a": 1}, {"a": 2}]}';
  const { code, stdout } = await run("odd.strict", "id=7", `filter=${filter}`);
  expect([code, JSON.parse(stdout)]).toEqual([0, { id: 7, filter: JSON.parse(filter) }]);
});

test("a whole number is sent to the last digit, or not at all", async () => {
  const given = ["id=12345678901234567890", "id:=12345678901234567890", '--args={"id": 12345678901234567890}'];
  const endings = await Promise.all(given.map((word) => run("odd.loose", word)));
  expect(endings.map(({ code, stderr }) => [code, stderr])).toEqual(
    ["id", "id", "--args"].map((where) => [
      2,
      `fairlead: ${where} has a number that JavaScript cannot hold exactly: 12345678901234567890\n`,
    ]),
  );
});
