// The import rule, from one array: a folder of core may import the folders of its own rank and of the ranks to its left,
// and the leaves. Types may come from the right. Within a rank, files must not import each other in a cycle.
export const ranks = [
  ["files", "telemetry"],
  ["settings", "trust"],
  ["auth", "net"],
  ["connect", "recordings", "ide", "sandbox"],
  ["normalise", "search", "skills"],
  ["server"],
  ["policy"],
  ["request", "execute", "resources", "results", "checks"],
  ["turn", "model", "conversations"],
  ["host"],
  // The seeds' classes stand on top of the ten ranks.
  ["gemini"],
];
/** Files and folders that every rank may import. They import only each other and the wire. */
export const leaves = [
  "errors.ts",
  "events.ts",
  "expect-arguments.ts",
  "clock.ts",
  "limits.ts",
  "unless-aborted.ts",
  "text/",
  "demo/",
];

const core = "^packages/core/src/";
const any = (names) => `(${names.map((name) => name.replace(".", "[.]")).join("|")})`;
const folder = (name) => `${core}${name}/`;
/** Lists of names for the command and the gateway. They may import everything but the seeds' classes. */
const doors = folder("doors");

const pointsLeft = ranks.flatMap((rank, index) =>
  rank.map((name) => ({
    name: `${name}-points-left`,
    severity: "error",
    from: { path: folder(name) },
    to: {
      path: core,
      pathNot: [
        ...ranks
          .slice(0, index + 1)
          .flat()
          .map(folder),
        `${core}${any(leaves)}`,
      ],
    },
  })),
);

export const forbidden = [
  ...pointsLeft,
  {
    name: "leaves-import-only-leaves",
    severity: "error",
    from: { path: `${core}${any(leaves)}` },
    to: { path: core, pathNot: `${core}${any(leaves)}` },
  },
  {
    name: "every-folder-has-a-rank",
    comment: "A new folder of core needs a place in the array of ranks.",
    severity: "error",
    from: {},
    to: { path: `${core}[^/]+/`, pathNot: [...ranks.flat().map(folder), doors, `${core}${any(leaves)}`] },
  },
  {
    name: "doors-lead-out",
    comment: "Core itself imports the file that declares a name.",
    severity: "error",
    from: { path: core },
    to: { path: doors },
  },
  {
    name: "wire-stands-alone",
    severity: "error",
    from: { path: "^packages/wire/src/" },
    to: { path: "^packages/(?!wire/)" },
  },
  {
    name: "core-knows-no-front-door",
    severity: "error",
    from: { path: core },
    to: { path: "^packages/(cli|gateway|console|registry|team|test-servers)/" },
  },
  {
    name: "gateway-knows-core-and-wire",
    severity: "error",
    from: { path: "^packages/gateway/src/" },
    to: { path: "^packages/(cli|console|registry|team|test-servers)/" },
  },
  {
    name: "console-knows-gateway-core-and-wire",
    severity: "error",
    from: { path: "^packages/console/src/" },
    to: { path: "^packages/(cli|registry|team|test-servers)/" },
  },
  {
    name: "team-knows-gateway-core-and-wire",
    severity: "error",
    from: { path: "^packages/team/src/" },
    to: { path: "^packages/(cli|console|registry|test-servers)/" },
  },
  {
    name: "registry-knows-core-and-wire",
    severity: "error",
    from: { path: "^packages/registry/src/" },
    to: { path: "^packages/(cli|console|gateway|team|test-servers)/" },
  },
  {
    name: "only-postgres-knows-pg",
    comment: "Ports and their callers do not depend on the engine.",
    severity: "error",
    from: { path: "^packages/", pathNot: "^packages/team/src/store/postgres/" },
    to: { path: "node_modules/pg/" },
  },
  {
    name: "the-page-runs-in-a-browser",
    comment:
      "The page imports the protocol, the form model, and pure functions of core, but nothing that runs in Node.",
    severity: "error",
    from: { path: "^packages/console/src/page/" },
    to: {
      path: "^(packages/(?!console/src/(form|page|protocol)/|core/src/(doors/|text/|normalise|plain-text)|wire/src/shapes/)|node:)",
    },
  },
  {
    name: "only-programs-use-the-seeds-classes",
    comment: "core/gemini is for programs that import it. The command and the gateway do not load it.",
    severity: "error",
    from: { path: "^packages/", pathNot: [folder("gemini"), `${core}(index|testing)[.]ts$`] },
    to: { path: folder("gemini") },
  },
  {
    name: "core-tells-through-events",
    comment: "No console, no terminal in core: it is a library.",
    severity: "error",
    from: { path: core },
    to: { path: "^(node:)?(readline|tty)" },
  },
  { name: "no-cycles", severity: "error", from: { path: "^packages/" }, to: { circular: true } },
  {
    name: "no-unresolved",
    severity: "error",
    from: {},
    // This package is optional at run time; knip checks that it is declared.
    to: { couldNotResolve: true, pathNot: "^@napi-rs/keyring$" },
  },
];

export const options = {
  parser: "swc",
  tsPreCompilationDeps: true,
  doNotFollow: { path: ["node_modules"] },
  // Tests are left out: the parser does not support `await using`, and the rule is about sources.
  exclude: { path: ["^packages/[^/]+/(build|dist|bundle|test)/"] },
  // The parser does not support JSX either, so imports.mjs reads the imports of these files.
  extraExtensionsToScan: [".tsx"],
  enhancedResolveOptions: {
    conditionNames: ["fairlead-source", "import", "node", "default"],
    exportsFields: ["exports"],
    extensions: [".ts", ".tsx", ".js", ".mjs", ".json"],
    mainFields: ["module", "main"],
  },
};
