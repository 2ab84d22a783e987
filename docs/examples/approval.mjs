// An approval screen: shows exactly what a model wants to run and why it is asked, and offers the answers that can take effect.
import { createInterface } from "node:readline/promises";
import { chooseModel, createHost, systemClock, ToolConfirmationOutcome } from "@fairlead/core";
import { toSafeText, toVisibleLine } from "@fairlead/core/text";

const terminal = createInterface({ input: process.stdin, output: process.stderr });
const typed = terminal[Symbol.asyncIterator]();

async function confirm({ serverName, toolName, args, rule, change, outcomes }) {
  // Names and values come from servers and models: nothing of them may do anything to the terminal, or hide.
  console.error(`\n${toVisibleLine(`${serverName}.${toolName}`)} wants to run`);
  for (const [name, value] of Object.entries(args))
    console.error(`  ${toVisibleLine(name)}: ${toVisibleLine(JSON.stringify(value))}`);
  if (rule) console.error(`  asked because: ${toVisibleLine(rule.text)}`);
  if (change) console.error(`  its definition has changed in ${change.length} places since you last said yes`);
  for (const [at, outcome] of outcomes.entries()) console.error(`  ${at + 1}  ${outcome}`);
  const { value: answer } = await typed.next();
  // Whatever is no number of an answer, the end of the input too, is a no.
  return outcomes[Number(answer) - 1] ?? ToolConfirmationOutcome.Cancel;
}

const choice = await chooseModel({ env: process.env, clock: systemClock });
if (choice.kind !== "model") throw new Error("Set GEMINI_API_KEY, or OPENAI_BASE_URL.");
const host = await createHost({ model: choice.model, confirm });
try {
  const turn = host.runTurn(process.argv[2] ?? "Greet Ada.", { references: true });
  for await (const event of turn) {
    if (event.type === "call") console.error(`${toVisibleLine(event.name)}: ${event.status}`);
    if (event.type === "done") console.log(toSafeText(event.text));
    if (event.type === "error") throw event.error;
  }
} finally {
  terminal.close();
  await host[Symbol.asyncDispose]();
}
