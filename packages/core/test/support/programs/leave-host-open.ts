/** Creates a host, prints whether the folder is trusted, and ends without closing the host. */

import { createHost } from "../../../src/index.ts";

const host = await createHost({ settings: { mcpServers: { s: { command: "/bin/false", trust: true } } } });
const { trust } = await host.explain("s", "x");
process.stdout.write(JSON.stringify(trust));
