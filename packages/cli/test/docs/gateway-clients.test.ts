import { expect, test } from "vitest";
import { clientNames, clients } from "../../src/clients/client.ts";
import { readPage, runSteps, stepsOf } from "../support/page.ts";

test("docs/gateway-clients.md: every command works as it stands, and every client has its section or its row", async () => {
  const page = readPage("gateway-clients.md");
  for (const client of clientNames) {
    const hasSection = page.includes(`\n## ${clients[client].title}\n\n\`\`\`console\n$ fairlead`);
    expect(hasSection || page.includes(`\n| \`${client}\` | `), client).toBe(true);
    expect(page).toMatch(new RegExp(`\\$ fairlead connect ([\\w-]+ )*${client} [\\w -]*--yes`));
    if (hasSection) expect(page).toContain(`$ fairlead disconnect ${client} --yes`);
  }
  await runSteps(stepsOf("gateway-clients.md"));
});
