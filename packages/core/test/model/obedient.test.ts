import { type Asked, obedient } from "@fairlead/test-servers";
import { expect, test } from "vitest";

const asked: Asked = { model: "m", system: "", tools: ["demo_add", "demo_echo"], said: "", rounds: [] };
const said = `Please do this:
call demo_add {"a": 1, "b": 2}
  call demo_echo
then
call demo_echo {"text":"done"}`;
const result = (name: string, value: unknown) => ({ name, result: value, media: [] });

test("lines that say so are called at once, those after `then` in the next round", () => {
  expect(obedient({ ...asked, said }).pieces).toEqual([
    { call: "demo_add", args: { a: 1, b: 2 } },
    { call: "demo_echo", args: {} },
  ]);
  const first = [result("demo_add", "3"), result("demo_echo", "")];
  expect(obedient({ ...asked, said, rounds: [first] }).pieces).toEqual([{ call: "demo_echo", args: { text: "done" } }]);
});

test("at the end it says what came of each", () => {
  const rounds = [[result("demo_add", "3")], [{ ...result("demo_echo", { a: 1 }), media: ["image/png"] }]];
  expect(obedient({ ...asked, said, rounds }).pieces).toEqual([
    { text: 'demo_add: 3\ndemo_echo: {"a":1} and image/png' },
  ]);
});

test("told nothing, it says what it could do; told badly, that it does not understand", () => {
  expect(obedient({ ...asked, said: "hello" }).pieces).toEqual([
    { text: "You said: hello\nI can call: demo_add, demo_echo" },
  ]);
  expect(obedient({ ...asked, said: "call demo_add {a:1}" }).pieces).toEqual([
    { text: "These arguments of demo_add are not JSON: {a:1}" },
  ]);
});
