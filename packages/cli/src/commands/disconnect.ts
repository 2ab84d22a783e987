/** `fairlead disconnect`: undoes `fairlead connect`. */

import { HostError } from "@fairlead/core/errors";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { Argument } from "commander";
import { type ClientName, clientNames, clients, isClientName } from "../clients/client.ts";
import { revokeClientTokens } from "../clients/client-entry.ts";
import { clientFile } from "../clients/client-places.ts";
import { changedSince, type DisconnectPlan, planDisconnect, writeDisconnect } from "../clients/connect-client.ts";
import { type ClientReport, clientDocument, differenceText } from "../clients/connect-report.ts";
import { lineDifference } from "../clients/line-difference.ts";
import { type Receipt, ReceiptStore } from "../clients/receipts.ts";
import { count } from "../output/output.ts";
import { configurationOf } from "../shell/configuration.ts";
import { canAsk, confirm } from "../shell/prompt.ts";
import type { Context, Verb } from "../shell/verb.ts";

export const verb: Verb = {
  help: `
Restores the client's settings file, byte for byte, with the servers that connect --replace had moved out of it. These
servers also stay in Fairlead's settings. If the file has changed since connect, shows the difference and changes
nothing; --force then removes only Fairlead's entry. Revokes the client's tokens, also those of an entry that connect
--http --print printed.

Examples:
  fairlead disconnect claude-code
  fairlead disconnect codex --yes
  fairlead disconnect cursor --force`,

  define(command) {
    command
      .addArgument(new Argument("<client>", "the client to disconnect").choices(clientNames))
      .option("--yes", "change the client's settings without asking")
      .option("--force", "if the client's settings have changed since connect, remove only Fairlead's entry");
  },

  async run(context) {
    const { io, out, globals, command, operands } = context;
    const { yes = false, force = false } = command.opts<{ yes?: boolean; force?: boolean }>();
    const client = operands.find(isClientName) ?? "claude-code";
    const configuration = await configurationOf(context);
    const receipts = new ReceiptStore(configuration.locations.state);
    const file = await clientFile(client, configuration.environment);
    const receipt = await findReceipt(client, file, receipts);
    if (receipt === undefined) return revokeOnly(client, file, configuration, context);
    const plan = await planDisconnect(receipt, receipts);
    const report: ClientReport = {
      client,
      file: receipt.file,
      action: plan.kind === "changed" ? "removed" : "restored",
      difference: lineDifference(plan.text ?? "", restoredText(plan)),
      warnings: [],
    };
    const refusal = plan.kind === "changed" && !force ? changedSince(receipt) : undefined;
    if (refusal !== undefined && plan.kind === "changed") {
      const difference = lineDifference(plan.wrote ?? plan.after, plan.text);
      const refused: ClientReport = {
        ...report,
        action: "refused",
        difference,
        error: refusal,
      };
      if (globals.json) out.json({ ...clientDocument(refused) });
      else out.exactly(differenceText(refused));
      throw refusal;
    }
    // With --yes there is no question for which the user must read the difference.
    if (yes ? !globals.json && !globals.quiet : !globals.json || canAsk(io)) out.exactly(differenceText(report));
    if (!yes && !canAsk(io))
      throw new HostError(
        "usage",
        `${client} was not disconnected: disconnect asks first, and there is no terminal to ask on`,
        { next: `fairlead disconnect ${client}${force ? " --force" : ""} --yes` },
      );
    if (!yes && !(await confirm(io, safe`Write this?`)))
      return globals.json
        ? out.json(clientDocument({ ...report, action: "declined" }))
        : out.say(safe`nothing was written`);
    await writeDisconnect(receipt, plan, receipts);
    const revokedTokens = await revokeClientTokens(client, configuration.locations.state);
    if (globals.json) return out.json(clientDocument({ ...report, revokedTokens }));
    out.say(safe`disconnected: ${toSafeLine(clients[client].title)} (${toSafeLine(receipt.file)})`);
    if (revokedTokens > 0) out.say(revokedWords(client, revokedTokens));
    for (const name of receipt.moved)
      out.say(
        safe`${toVisibleLine(name)} also stays in Fairlead's settings; to remove it there: fairlead mcp remove -s user ${toVisibleLine(name)}`,
      );
  },
};

function restoredText(plan: DisconnectPlan): string {
  if (plan.kind === "gone") return plan.text ?? "";
  return (plan.kind === "restore" ? plan.before : plan.after) ?? "";
}

/**
 * Revokes the tokens of a client whose file Fairlead has not written, such as those of `connect --http --print`.
 *
 * @throws HostError `not_found` if the client has no token either
 */
async function revokeOnly(
  client: ClientName,
  file: string,
  { locations }: Configuration,
  { out, globals }: Context,
): Promise<void> {
  const revokedTokens = await revokeClientTokens(client, locations.state);
  if (revokedTokens === 0)
    throw new HostError(
      "not_found",
      `${clients[client].title} is not connected: Fairlead has written nothing to ${file}, and the client has no token`,
      { next: "fairlead connect --list" },
    );
  if (globals.json) return out.json(clientDocument({ client, file, action: "revoked", revokedTokens, warnings: [] }));
  out.say(revokedWords(client, revokedTokens));
  out.say(safe`Fairlead has written nothing to ${toSafeLine(file)}; an entry that you pasted there no longer works`);
}

function revokedWords(client: ClientName, tokens: number): SafeText {
  return safe`revoked ${count(tokens, "token")} of ${toSafeLine(clients[client].title)}`;
}

/**
 * Finds the receipt of `connect` for the client's file. If the client has only one receipt, the settings file may have
 * moved since.
 */
async function findReceipt(client: ClientName, file: string, receipts: ReceiptStore): Promise<Receipt | undefined> {
  const own = (await receipts.list()).filter((receipt) => receipt.client === client);
  return own.find((receipt) => receipt.file === file) ?? (own.length === 1 ? own[0] : undefined);
}
