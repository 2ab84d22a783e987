import { expect, test } from "vitest";
import { chooseConversation, resumeAtStart } from "../../../src/tui/session/resume.ts";
import { slashScene } from "../../support/tui/slash-services.ts";

const info = (id: string, more: object = {}) => ({
  id,
  firstWords: `words of ${id}`,
  updatedAt: new Date(Date.now() - 100 * 3_600_000).toISOString(),
  workspace: "/home/ada/work",
  calls: 2,
  ...more,
});

function scene(list: readonly unknown[]) {
  const asked: unknown[] = [];
  const host = {
    conversations: async (search: unknown) => {
      asked.push(search);
      return list;
    },
  };
  return { ...slashScene({ host, answers: [undefined] }), asked };
}

const question = (...options: readonly string[]): readonly unknown[] => [
  "ask",
  "choice",
  { kind: "choice", serverName: "Fairlead", message: "Which conversation do you want to continue?", options },
];
const command = { name: "", summary: "" };

test("the user chooses among the latest conversations other than the open one, or none", async () => {
  const app = scene([info("c1"), info("c2"), info("c3", { title: "Plan", calls: 1 })]);
  const run = { ...command, run: (_words: string) => chooseConversation(app.services) };
  expect(await app.run(run, "")).toEqual([
    question("words of c2 (4 days ago, ~/work, 2 calls)", "Plan (4 days ago, ~/work, 1 call)"),
  ]);
  expect(app.asked).toEqual([{ limit: 20 }]);
});

test("at the start, --resume asks, and without the option nothing happens", async () => {
  const app = scene([info("c2")]);
  const at = (options: object) => ({ ...command, run: (_words: string) => resumeAtStart(options, app.services) });
  expect(await app.run(at({ resume: true }), "")).toEqual([question("words of c2 (4 days ago, ~/work, 2 calls)")]);
  expect(await app.run(at({}), "")).toEqual([]);
});
