// Benchmarks: `npm run bench` runs all, `npm run bench -- start` one. Ratios side by side in one run; never part of the tests.
import { parseArgs } from "node:util";

const benches = {
  start: () => import("./start.mjs"),
  list: () => import("./list.mjs"),
  wire: () => import("./wire.mjs"),
  schemas: () => import("./schemas.mjs"),
  results: () => import("./results.mjs"),
  floods: () => import("./floods.mjs"),
};

const { positionals: names, values: options } = parseArgs({
  allowPositionals: true,
  options: { cell: { type: "string" }, peers: { type: "string" }, rounds: { type: "string" } },
});
/** Takes a quarter of an hour, so it runs only when it is named. */
const onlyByName = "floods";
for (const name of names.length > 0 ? names : Object.keys(benches).filter((each) => each !== onlyByName)) {
  const load = benches[name];
  if (load === undefined) {
    process.stderr.write(`there is no benchmark "${name}"; known: ${Object.keys(benches).join(", ")}\n`);
    process.exitCode = 2;
  } else {
    const { bench } = await load();
    if (!(await bench(options))) process.exitCode = 1;
  }
}
