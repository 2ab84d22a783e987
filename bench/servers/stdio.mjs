// A fast stdio server in plain Node. Argument: the number of its tools.
import { createReplies } from "./replies.mjs";

const reply = createReplies(Number(process.argv[2]));
let rest = "";
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  const answers = lines.map((line) => reply(JSON.parse(line))).filter((answer) => answer !== undefined);
  if (answers.length > 0) process.stdout.write(`${answers.join("\n")}\n`);
});
