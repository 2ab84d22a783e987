/** `fairlead team keys` and `fairlead team revoke`: API keys of machines, and users who may no longer use the gateway. */

import { HostError } from "@fairlead/core/errors";
import { joinSafe, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { count, table } from "../../output/output.ts";
import { canAsk, confirm } from "../../shell/prompt.ts";
import type { Verb } from "../../shell/verb.ts";
import { aboutTeam, defineTenant, toOwner, withTeam } from "./with-team.ts";

interface AddOptions {
  readonly scope: readonly string[];
  readonly role: string;
  readonly network: readonly string[];
  readonly expires?: string;
}

const day = 86_400_000;

const add: Verb = {
  help: `${aboutTeam}
Makes an API key for a machine, such as a CI job. The key is printed once, on stdout; only its digest is stored. OWNER is the
name of the machine (build-server), or a user as ISSUER#SUBJECT: the key then uses that user's sign-ins, approvals and
rules. Keys work if "apiKeys" in fairlead.team.auth is true.

Examples:
  fairlead team keys add build-server
  fairlead team keys add build-server --scope mcp:read --expires 90d --network 10.0.0.0/8
  fairlead team keys add auditor-job --role auditor --json`,

  define(command) {
    command
      .argument("<owner>", "the name of the machine, or a user as ISSUER#SUBJECT")
      .option("--scope <scope...>", "what the key may do: mcp:read, mcp:call or mcp:admin", ["mcp:call"])
      .option("--role <role>", "user, approver, auditor, operator or admin", "user")
      .option("--network <cidr...>", "only from these networks, such as 10.0.0.0/8; default: from everywhere", [])
      .option("--expires <days>", "for how long the key works, such as 90d; default: until it is revoked");
    defineTenant(command);
  },

  async run(context) {
    const { out, globals, command, operands } = context;
    const [principal = ""] = operands;
    const { scope: scopes, role, network: networks, expires } = command.opts<AddOptions>();
    const expiresAt = expires === undefined ? undefined : Date.now() + toDays(expires) * day;
    const { key, text } = await withTeam(context, ({ admin }) =>
      admin.addKey({ principal, scopes, role, networks, expiresAt }),
    );
    const until = key.expiresAt === undefined ? undefined : new Date(key.expiresAt).toISOString();
    if (globals.json)
      return out.json({ id: key.id, key: text, owner: principal, scopes, role, networks, expiresAt: until });
    out.print(toSafeLine(text));
    out.say(
      safe`this key is shown once: put it where ${toVisibleLine(principal)} finds it, as the header Authorization: Bearer KEY`,
    );
    out.undo(`fairlead team keys revoke ${key.id}`);
  },
};

function toDays(word: string): number {
  const [, days] = /^([1-9]\d{0,4})d$/.exec(word) ?? [];
  if (days !== undefined) return Number(days);
  throw new HostError("usage", `--expires must be a number of days, such as 90d, not "${word}"`);
}

const list: Verb = {
  help: `${aboutTeam}
Lists the API keys: id, owner, role, scopes, networks, when they expire, who made them, and the day on which they were used
last. The keys themselves are stored nowhere.

Examples:
  fairlead team keys list`,

  define: defineTenant,

  async run(context) {
    const { out, globals } = context;
    const keys = await withTeam(context, ({ admin }) => admin.keys());
    const shown = keys.map(({ hash: _hash, owner, expiresAt, ...key }) => ({
      ...key,
      owner: owner.principal,
      expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt).toISOString(),
    }));
    if (globals.json) return out.json({ keys: shown });
    if (shown.length === 0) return out.say(safe`no API keys`);
    out.print(
      table([
        ["id", "owner", "role", "scopes", "networks", "expires", "made by", "last used"].map((text) =>
          toSafeLine(text),
        ),
        ...shown.map(({ id, owner, role, scopes, networks, expiresAt, createdBy, lastUsedDay }) =>
          [
            id,
            owner,
            role,
            scopes.join(" "),
            networks.length === 0 ? "all" : networks.join(" "),
            expiresAt?.slice(0, 10) ?? "never",
            createdBy,
            lastUsedDay ?? "never",
          ].map((text) => toVisibleLine(text)),
        ),
      ]),
    );
  },
};

const revoke: Verb = {
  help: `${aboutTeam}
Revokes an API key. Every replica refuses it within 30 seconds, and usually at once.

Examples:
  fairlead team keys list
  fairlead team keys revoke 3f2a9c01d4e5b678`,

  define(command) {
    defineTenant(command.argument("<id>", "the id of the key, from fairlead team keys list"));
  },

  async run(context) {
    const { out, globals, operands } = context;
    const [id = ""] = operands;
    await withTeam(context, ({ admin }) => admin.revokeKey(id));
    if (globals.json) return out.json({ revoked: id });
    out.print(safe`revoked: ${toVisibleLine(id)}`);
  },
};

const revokeUser: Verb = {
  help: `${aboutTeam}
For a user who left, or whose laptop was lost: refuses all tokens that the user has now, revokes the user's API keys, and
removes the user's sign-ins to servers. A token that the identity provider issues later works: disable the account
there, too.

Examples:
  fairlead team revoke 'https://idp.example#ada'
  fairlead team revoke 'https://idp.example#ada' --yes`,

  define(command) {
    command.argument("<user>", "the user, as ISSUER#SUBJECT").option("--yes", "do not ask");
    defineTenant(command);
  },

  async run(context) {
    const { io, out, globals, command, operands } = context;
    const [user = ""] = operands;
    const { yes: isYes = false } = command.opts<{ readonly yes?: boolean }>();
    if (!isYes && !canAsk(io))
      throw new HostError("usage", "team revoke asks first, and there is no terminal to ask on", {
        next: [command.name(), user, "--yes"].join(" "),
      });
    if (
      !isYes &&
      !(await confirm(io, safe`Refuse all tokens of ${toVisibleLine(user)}, and remove keys and sign-ins?`))
    )
      return globals.json ? out.json({ revoked: false }) : out.say(safe`nothing was changed`);
    const { keys, signIns } = await withTeam(context, (team) => {
      const owner = toOwner(user, team);
      if (owner.tenant !== team.tenant)
        throw new HostError("usage", `${user} belongs to tenant ${owner.tenant}`, { next: `--tenant ${owner.tenant}` });
      return team.admin.revokeUser(user);
    });
    if (globals.json) return out.json({ revoked: true, user, keys, signIns });
    const parts = [safe`tokens`, count(keys, "API key"), count(signIns, "sign-in")];
    out.print(safe`revoked: ${joinSafe(parts, safe`, `)} of ${toVisibleLine(user)}`);
  },
};

export const verbs: Readonly<Record<"add" | "list" | "revoke" | "revokeUser", Verb>> = {
  add,
  list,
  revoke,
  revokeUser,
};
