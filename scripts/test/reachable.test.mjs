import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { importGraph } from "../reachable.mjs";
import { planted } from "./checks/planted.mjs";

const core = {
  "core/src/doors/trust.ts": [
    'export { admit, type Trust } from "../trust/admit.ts";',
    'export { ask } from "../trust/ask.ts";',
  ].join("\n"),
  "core/src/trust/admit.ts": 'import { places } from "./places.ts";\nexport const admit = () => places;\n',
  "core/src/trust/ask.ts": "export const ask = 1;\n",
  "core/src/trust/places.ts": "export const places = 2;\n",
};

/** Returns the files that a command needs at once, as paths below `packages/`. */
function reachableFrom(command) {
  return planted({ ...core, "cli/src/main.ts": command }, async (temporary) => {
    // The bundler resolves links, and the temporary folder is one on macOS.
    const folder = await realpath(temporary);
    const packages = join(folder, "packages");
    const input = join(packages, "cli/src/main.ts");
    const alias = { "@fairlead/core": join(packages, "core/src/doors") };
    const graph = importGraph(folder);
    const build = await rolldown({ input, resolve: { alias, extensions: [".ts"] }, plugins: [graph.plugin] });
    await build.generate();
    await build.close();
    return [...graph.reachable(input)].map((file) => file.slice(packages.length + 1).replaceAll("\\", "/"));
  });
}

test("an import through a door needs the files of its names and what they import, not the rest of the door", async () => {
  expect(await reachableFrom('import { admit as allow } from "@fairlead/core/trust";\nallow();\n')).toEqual([
    "cli/src/main.ts",
    "core/src/trust/admit.ts",
    "core/src/trust/places.ts",
  ]);
});

test("an import of types through a door needs no file for them", async () => {
  const command = 'import { ask, type Trust } from "@fairlead/core/trust";\nexport const trust: Trust = ask;\n';
  expect(await reachableFrom(command)).toEqual(["cli/src/main.ts", "core/src/trust/ask.ts"]);
});
