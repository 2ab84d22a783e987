/*
 * Runs many servers in one process, because starting Node takes a tenth of a second of CPU and the tests start hundreds
 * of servers. Each connection begins with a line of JSON that names the program and its arguments; the rest is the
 * server's input and output. The program "everything" answers with the address of the reference server over HTTP, which is
 * started when it is first asked for. Prints its port.
 */
import { createServer } from "node:net";
import { asks } from "./calls/asks.mjs";
import { counted } from "./calls/counted.mjs";
import { largeResult } from "./calls/large-result.mjs";
import { oddParameters } from "./calls/odd-parameters.mjs";
import { results } from "./calls/results.mjs";
import { tasks } from "./calls/tasks.mjs";
import { workshop } from "./calls/workshop.mjs";
import { catalog } from "./catalogs/catalog.mjs";
import { contender } from "./catalogs/contender.mjs";
import { echoCatalog } from "./catalogs/echo-catalog.mjs";
import { library } from "./catalogs/library.mjs";
import { skills } from "./catalogs/skills.mjs";
import { views } from "./catalogs/views.mjs";
import { conformance } from "./conformance.mjs";
import { silent } from "./misbehaving/silent.mjs";
import { wellBehaved } from "./well-behaved.mjs";

/** The reference servers over HTTP, by transport: each has one process for the whole test run. */
const references = new Map();

function everything({ args: [transport], output }) {
  if (!references.has(transport)) references.set(transport, startReference(transport));
  references.get(transport).then(
    (url) => output.end(`${url}\n`),
    (error) => {
      process.stderr.write(`${error.stack}\n`);
      output.end();
    },
  );
}

async function startReference(transport) {
  const { startEverything } = await import("../../dist/real-server.js");
  const { url, kill } = await startEverything(transport);
  process.once("exit", kill);
  return url;
}

const programs = {
  asks,
  catalog,
  conformance,
  contender,
  views,
  counted,
  "echo-catalog": echoCatalog,
  everything,
  "large-result": largeResult,
  library,
  skills,
  "odd-parameters": oddParameters,
  results,
  silent,
  tasks,
  "well-behaved": wellBehaved,
  workshop,
};

const server = createServer((socket) => {
  let head = "";
  // If the relay was killed or the test has ended, its server ends too.
  socket.on("error", () => socket.destroy());
  socket.setEncoding("utf8").on("data", function begin(text) {
    head += text;
    const end = head.indexOf("\n");
    if (end < 0) return;
    socket.off("data", begin);
    socket.pause();
    socket.unshift(head.slice(end + 1), "utf8");
    try {
      const { program, args } = JSON.parse(head.slice(0, end));
      programs[program]({ args, input: socket, output: socket });
    } catch (error) {
      report(error);
      socket.destroy();
    }
  });
});

/**
 * A server can fail because its test has ended and has removed its folder. That must not end this process, which also
 * runs the servers of other tests.
 */
function report(error) {
  process.stderr.write(`a shared test server failed: ${error.stack}\n`);
}

process.on("unhandledRejection", report);
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume().on("end", () => process.exit());
