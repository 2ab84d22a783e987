import { expect, test } from "vitest";
import { AnsweredCommands, type CommandAnswer } from "../../src/server/door/answered-commands.ts";

function answer(text: string): CommandAnswer {
  return { status: 200, body: Buffer.from(text), lastEvent: 1 };
}

test("a command that is sent twice runs once, and both requests get its answer, also while it runs", async () => {
  const commands = new AnsweredCommands();
  let runs = 0;
  let finish: (text: string) => void = () => {};
  const work = async (): Promise<CommandAnswer> => {
    runs += 1;
    return answer(await new Promise<string>((resolve) => (finish = resolve)));
  };
  const first = commands.run("key", "calls/tool", "{}", work);
  const second = commands.run("key", "calls/tool", "{}", work);
  finish("done");
  expect(await Promise.all([first, second])).toEqual([answer("done"), answer("done")]);
  expect(await commands.run("key", "calls/tool", "{}", work)).toEqual(answer("done"));
  expect(runs).toBe(1);
});

test("a key belongs to one command with its parameters", async () => {
  const commands = new AnsweredCommands();
  await commands.run("key", "calls/tool", "{}", async () => answer("done"));
  expect(commands.run("key", "calls/tool", '{"a":1}', async () => answer("other"))).toBeUndefined();
  expect(commands.run("key", "calls/cancel", "{}", async () => answer("other"))).toBeUndefined();
  expect(await commands.run("other", "calls/tool", "{}", async () => answer("other"))).toEqual(answer("other"));
});

test("the answer of a read is not kept if it is large; the command does not run again with its key", async () => {
  const commands = new AnsweredCommands();
  await commands.run("key", "traffic/body", "{}", async () => answer("x".repeat(70_000)));
  expect(commands.run("key", "traffic/body", "{}", async () => answer("again"))).toBeUndefined();
});

test("the latest 1 000 commands are remembered", async () => {
  const commands = new AnsweredCommands();
  for (let at = 0; at <= 1000; at += 1) await commands.run(`${at}`, "verb", "{}", async () => answer("first"));
  expect(await commands.run("1", "verb", "{}", async () => answer("again"))).toEqual(answer("first"));
  expect(await commands.run("0", "verb", "{}", async () => answer("again"))).toEqual(answer("again"));
});
