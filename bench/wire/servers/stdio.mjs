// Stands in for the server in C where there is no compiler. Arguments: the number of tools, the size of a result in bytes.
import { createReplies } from "./replies.mjs";

const [tools, bytes] = process.argv.slice(2).map(Number);
const reply = createReplies({ tools, bytes });
let rest = "";
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  const answers = lines.map((line) => reply(JSON.parse(line))).filter((answer) => answer !== undefined);
  if (answers.length > 0) process.stdout.write(`${answers.join("\n")}\n`);
});
