/** `/resources`: what can be read from servers. */

import { joinSafe, safe } from "@fairlead/core/text/safe-text";
import { groupBy } from "../../output/group-by.ts";
import { resourcesText } from "../../output/tools/resource-list.ts";
import { type BuiltIn, serverNames } from "./command.ts";
import { lookFor, namedServer } from "./listing.ts";

export const resources: BuiltIn = {
  name: "resources",
  summary: "resources offered by servers; in a message, refer to one with @",
  usage: "[SERVER]",
  complete: ([server], bench) => (server === undefined ? serverNames(bench) : []),
  run(line, bench) {
    const { session } = bench;
    const servers = [...groupBy(session.host.resources(namedServer(line, bench)), ({ server }) => server)];
    const texts = servers.map(([server, own]) => resourcesText(server, own, lookFor(bench)));
    session.show("/resources", texts.length === 0 ? "No resources found." : joinSafe(texts, safe`\n\n`));
  },
};
