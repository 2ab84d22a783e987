/*
 * Runs the benchmarks: `npm run bench` measures the product; `soak`, `floods`, `search`, `gateway`,
 * `background`, `console`, `sandbox` and `team-simulation` run only by name. The tests never run them.
 */
import { parseArgs } from "node:util";

const benches = {
  product: () => import("./product.mjs"),
  soak: () => import("./soak.mjs"),
  floods: () => import("./floods.mjs"),
  search: () => import("./search.mjs"),
  gateway: () => import("./gateway.mjs"),
  background: () => import("./background.mjs"),
  console: () => import("./console.mjs"),
  sandbox: () => import("./sandbox.mjs"),
  team: () => import("./team.mjs"),
  "team-simulation": () => import("./team/simulate.mjs"),
};

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    full: { type: "boolean" },
    write: { type: "boolean" },
    minutes: { type: "string" },
    cell: { type: "string" },
    data: { type: "string" },
    rounds: { type: "string" },
    calls: { type: "string" },
  },
});
const [name = "product"] = positionals;
if (Object.hasOwn(benches, name)) {
  const { bench } = await benches[name]();
  if (!(await bench(options))) process.exitCode = 1;
} else {
  process.stderr.write(`there is no benchmark "${name}"; known: ${Object.keys(benches).join(", ")}\n`);
  process.exitCode = 2;
}
