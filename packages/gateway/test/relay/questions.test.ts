import { expect, test } from "vitest";
import { Questions } from "../../src/relay/questions.ts";

const request = (id: number | string) => Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"ping"}\n`);
const answer = (id: number | string) => Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{}}\n`);

test("questions of the first host and their answers pass unchanged, each once", () => {
  const questions = new Questions();
  expect([questions.isFirstHost(), questions.begin(), questions.isFirstHost()]).toEqual([false, true, true]);
  const [asked, answered] = [request(1), answer(1)];
  expect(questions.ask("1", asked)).toBe(asked);
  expect(questions.answer("2", answered)).toBeUndefined();
  expect(questions.answer("1", answered)).toBe(answered);
  expect(questions.answer("1", answered)).toBeUndefined();
});

test("questions of a later host get other ids, and the answers get the host's own ids back", () => {
  const questions = new Questions();
  questions.begin();
  expect([questions.begin(), questions.isFirstHost()]).toEqual([false, false]);
  expect(questions.ask("1", request(1))).toEqual(request("2:1"));
  expect(questions.ask('"1"', request("1"))).toEqual(request('2:"1"'));
  expect(questions.answer('"2:1"', answer("2:1"))).toEqual(answer(1));
  expect(questions.answer(JSON.stringify('2:"1"'), answer('2:"1"'))).toEqual(answer("1"));
  expect(questions.takeOpen()).toEqual([]);
});

test("open questions are cancelled by the client's ids and failed by the host's ids", () => {
  const questions = new Questions();
  questions.begin();
  questions.begin();
  for (const id of ["1", "2"]) questions.ask(id, request(Number(id)));
  expect(questions.takeOpen()).toEqual(['"2:1"', '"2:2"']);
  expect(questions.answer('"2:1"', answer("2:1"))).toBeUndefined();
  for (const id of ["3", "4"]) questions.ask(id, request(Number(id)));
  expect(questions.takeUnanswered()).toEqual(["3", "4"]);
  expect(questions.takeUnanswered()).toEqual([]);
});
