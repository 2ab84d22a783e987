import type { ApiKey, ApiKeyStore } from "../api-keys.ts";
import type { Hints } from "../hints.ts";
import type { RunStatement } from "./database.ts";
import { boundedText, keyText, ownerValues, toTime } from "./values.ts";

interface ApiKeyRow {
  readonly id: string;
  readonly tenant: number;
  readonly principal: string;
  readonly hash: Buffer;
  readonly scopes: readonly string[];
  readonly role: string;
  readonly networks: readonly string[];
  readonly expires_at: Date | null;
  readonly created_by: string;
  readonly last_used_day: string | null;
}

export class PostgresApiKeys implements ApiKeyStore {
  readonly #run: RunStatement;
  readonly #hints: Hints;

  constructor(run: RunStatement, hints: Hints) {
    this.#run = run;
    this.#hints = hints;
  }

  async add({ id, owner, hash, scopes, role, networks, expiresAt, createdBy }: ApiKey): Promise<void> {
    await this.#run(
      `insert into api_keys (id, tenant, principal, hash, scopes, role, networks, expires_at, created_by)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        keyText(id, "the id of the API key"),
        ...ownerValues(owner),
        hash,
        scopes.map(boundedText),
        boundedText(role),
        networks.map(boundedText),
        toTime(expiresAt),
        boundedText(createdBy),
      ],
    );
  }

  async read(id: string): Promise<ApiKey | undefined> {
    if (id.includes("\0")) return undefined;
    const [row] = await this.#run<ApiKeyRow>("select * from api_keys where id = $1", [id]);
    return row && toApiKey(row);
  }

  async used(id: string, day: string): Promise<void> {
    const statement = "update api_keys set last_used_day = $2 where id = $1 and last_used_day is distinct from $2";
    await this.#run(statement, [id, day]);
  }

  async revoke(tenant: number, id: string): Promise<boolean> {
    const statement = "delete from api_keys where tenant = $1 and id = $2 returning id";
    const rows = await this.#run(statement, [tenant, keyText(id, "the id of the API key")]);
    if (rows.length > 0) this.#hints.send("api_key", id);
    return rows.length > 0;
  }

  async list(tenant: number): Promise<readonly ApiKey[]> {
    const rows = await this.#run<ApiKeyRow>("select * from api_keys where tenant = $1 order by at, id", [tenant]);
    return rows.map(toApiKey);
  }
}

function toApiKey(row: ApiKeyRow): ApiKey {
  const { id, tenant, principal, hash, scopes, role, networks, expires_at, created_by, last_used_day } = row;
  return {
    id,
    owner: { tenant, principal },
    hash,
    scopes,
    role,
    networks,
    expiresAt: expires_at?.getTime(),
    createdBy: created_by,
    lastUsedDay: last_used_day ?? undefined,
  };
}
