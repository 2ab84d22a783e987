/** A host that calls its server `s` with the code of the second argument, prints the result, and stays until it is killed. */

import { createHost } from "../../../src/index.ts";

const [home = "", code = ""] = process.argv.slice(2);
const host = await createHost({
  environment: { env: { PATH: process.env["PATH"] }, home, cwd: home, platform: process.platform },
});
const { content } = await host.call("s", "run", { code });
process.stdout.write(`${JSON.stringify(content)}\n`);
setInterval(() => {}, 60_000);
