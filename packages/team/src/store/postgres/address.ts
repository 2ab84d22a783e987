/** The address of PostgreSQL, with one host or several, and clients that are connected to it. */

import { HostError } from "@fairlead/core";
import { errorMessage } from "@fairlead/wire/text";
import pg from "pg";

/** Milliseconds. A gateway that waits longer for its store helps no caller. */
export const timeouts = { connect: 1000, query: 3000, statement: 5000, turn: 15_000 } as const;

const addressParts = /^(?<start>postgres(?:ql)?:\/\/(?:[^/?]*@)?)(?<hosts>[^/?]*)(?<rest>.*)$/s;

/**
 * One address for each host of `url`, in its order: `postgresql://user@one:5432,two:5432/team` has two. `pg` knows no
 * lists of hosts.
 *
 * @param setting What messages call the address. They never contain it, because it can contain a password.
 * @throws HostError `settings_invalid`
 */
export function addressesOf(url: string, setting: string): readonly [string, ...string[]] {
  const { start, hosts, rest } = addressParts.exec(url)?.groups ?? {};
  if (start === undefined || hosts === undefined || rest === undefined)
    throw new HostError("settings_invalid", `${setting} is invalid: it does not begin with postgresql://`, {
      next: `Write "${setting}": "postgresql://USER:PASSWORD@HOST/DATABASE"`,
    });
  const [first = "", ...others] = hosts.split(",").map((host) => `${start}${host}${rest}`);
  return [first, ...others];
}

/** The options of every connection. */
export function connectionOptions(connectionString: string): pg.ClientConfig {
  return {
    connectionString,
    application_name: "fairlead",
    connectionTimeoutMillis: timeouts.connect,
    query_timeout: timeouts.query,
    statement_timeout: timeouts.statement,
    idle_in_transaction_session_timeout: timeouts.statement,
    keepAlive: true,
  };
}

/**
 * Connects a client to the first host that takes writes. A host that only follows another one is left out.
 *
 * @param options Replace the ones that every connection has.
 */
export async function connectToPrimary(
  addresses: readonly string[],
  options: pg.ClientConfig = {},
): Promise<pg.Client> {
  const problems: string[] = [];
  for (const address of addresses) {
    const client = new pg.Client({ ...connectionOptions(address), ...options });
    // Without a listener, the end of an idle connection would end the process.
    client.on("error", () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ follows: boolean }>("select pg_is_in_recovery() as follows");
      if (rows[0]?.follows === false) return client;
      problems.push("the server only follows another one");
    } catch (error) {
      problems.push(errorMessage(error));
    }
    await endQuietly(client);
  }
  throw unreachable(problems.join("; "));
}

/** Ends a connection, also one that is broken. */
export async function endQuietly(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined);
}

/** An error of `pg` as the host's error: `unreachable` if PostgreSQL is away, overloaded or ending. */
export function toStoreError(error: unknown): HostError {
  if (error instanceof HostError) return error;
  const code = error instanceof pg.DatabaseError ? (error.code ?? "") : "";
  if (code === "" || awayCodes.test(code)) return unreachable(errorMessage(error), error);
  return new HostError("internal", `PostgreSQL refused a statement: ${errorMessage(error)}`, { cause: error });
}

/**
 * SQLSTATE of failures that say nothing about the statement: no connection, no free connection, the server starts, stops or
 * follows another one, a time limit, a refused sign-in, a missing database.
 */
const awayCodes = /^(08|28|3D|53|57|58|25006|55P03)/;

/** The SQLSTATE of an error of `toStoreError`. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof HostError && error.cause instanceof pg.DatabaseError ? error.cause.code : undefined;
}

function unreachable(cause: string, error?: unknown): HostError {
  const poolerHint = /unsupported startup parameter/.test(cause)
    ? "PgBouncer needs: ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout,extra_float_digits"
    : "Check that PostgreSQL runs and that fairlead.team.store.url leads to it.";
  return new HostError("unreachable", `PostgreSQL is not reachable: ${cause}`, { cause: error, next: poolerHint });
}
