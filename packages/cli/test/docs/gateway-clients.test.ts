import { expect, test } from "vitest";
import { clientNames, clients } from "../../src/clients/client.ts";
import { readPage, runSteps, stepsOf } from "../support/page.ts";

test("docs/gateway-clients.md: every command works as it stands, and every client has its section", async () => {
  const page = readPage("gateway-clients.md");
  for (const client of clientNames) {
    expect(page).toContain(`\n## ${clients[client].title}\n\n\`\`\`console\n$ fairlead`);
    expect(page).toContain(`$ fairlead connect ${client} --yes`);
    expect(page).toContain(`$ fairlead disconnect ${client} --yes`);
  }
  await runSteps(stepsOf("gateway-clients.md"));
});
