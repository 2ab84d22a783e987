/** `/resources`: lists the resources of servers. */

import { joinSafe, safe } from "@fairlead/core/text/safe-text";
import { groupBy } from "../../output/group-by.ts";
import { resourcesText } from "../../output/tools/resource-list.ts";
import { type BuiltIn, serverNames } from "./command.ts";
import { lookFor, namedServer } from "./listing.ts";

export const resources: BuiltIn = {
  name: "resources",
  summary: "resources offered by servers; in a message, refer to one with @",
  usage: "[SERVER]",
  complete: ([server], services) => (server === undefined ? serverNames(services) : []),
  run(line, services) {
    const { session } = services;
    const servers = [...groupBy(session.host.resources(namedServer(line, services)), ({ server }) => server)];
    const texts = servers.map(([server, own]) => resourcesText(server, own, lookFor(services)));
    session.show("/resources", texts.length === 0 ? "No resources found." : joinSafe(texts, safe`\n\n`));
  },
};
