/** The replicas that run, as each of them reports it. */
export interface Replica {
  /** A small number that no other running replica has. Rows of the ledger carry it. */
  readonly id: number;
  readonly address: string;
  /** The version of Fairlead. */
  readonly version: string;
  /** The latest version of policy or settings that this replica has applied. 0: none. */
  readonly configVersion: number;
  /** Why a newer version was not applied. */
  readonly configProblem?: string;
  readonly isDraining: boolean;
  /** Rows of the ledger that wait on the replica's disk, because PostgreSQL was away. Default: 0. */
  readonly spoolRows?: number;
  /** When it last read which policy is the current one. In milliseconds since 1970. */
  readonly policyReadAt?: number | undefined;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  readonly seenAt: number;
}

export interface ReplicaStore {
  /** Registers a replica and returns its number. */
  register(replica: Pick<Replica, "address" | "version" | "startedAt">): Promise<number>;
  /** Reports that a replica runs, and what has changed. Registers it again if it was forgotten meanwhile. */
  report(replica: Omit<Replica, "seenAt">): Promise<void>;
  unregister(id: number): Promise<void>;
  /** The replicas that have reported within the last 30 s. */
  list(): Promise<readonly Replica[]>;
}
