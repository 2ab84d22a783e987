/**
 * The tables, as numbered steps. A step that was released is never changed: its checksum is compared. New steps only
 * add.
 */

export interface Migration {
  readonly name: string;
  readonly statements: string;
}

/** The number of a migration is its position, from 1. */
export const migrations: readonly Migration[] = [
  {
    name: "the tables of the team gateway",
    statements: `
      -- A sequence for all sign-ins: a row that was removed and created again never has a generation that it had before.
      create sequence grant_generations;
      create table grants (
        tenant int not null,
        principal text not null,
        server text not null,
        pin text not null,
        issuer text not null,
        generation bigint not null default nextval('grant_generations'),
        encrypted bytea not null,
        expires_at timestamptz,
        refused_at timestamptz,
        pause_until timestamptz,
        primary key (tenant, principal, server, pin)
      );

      create table clients (
        tenant int not null,
        key_digest bytea not null,
        issuer text not null,
        redirect_uri text not null,
        encrypted bytea not null,
        at timestamptz not null default now(),
        primary key (tenant, key_digest)
      );

      create table approvals (
        tenant int not null,
        principal text not null,
        key_digest bytea not null,
        server text not null,
        fingerprint text not null,
        kind text not null,
        tool text not null,
        client text,
        digest text not null,
        definition text,
        approved_by text not null,
        at timestamptz not null,
        number bigint generated always as identity,
        primary key (tenant, principal, key_digest)
      );

      create table definitions (
        tenant int not null,
        owner_digest bytea not null,
        tool_digest text not null,
        server text not null,
        digests text[] not null,
        accepted_by text not null,
        at timestamptz not null default now(),
        primary key (tenant, owner_digest, tool_digest)
      );

      create table configs (
        version bigint primary key,
        tenant int not null,
        kind text not null,
        body text not null,
        sha256 text not null,
        author text not null,
        at timestamptz not null default now()
      );
      create index on configs (tenant, kind, version);

      create table audit (
        id uuid not null,
        at timestamptz not null,
        tenant int not null,
        principal text not null,
        replica smallint not null,
        client text,
        server text not null,
        tool text not null,
        kind text not null,
        args_digest bytea not null,
        arguments bytea,
        decision text not null,
        rule text not null,
        rule_origin text,
        config_version bigint not null,
        mode text not null,
        answer text,
        answered_in text,
        refusal text,
        outcome text not null,
        duration_ms int not null,
        confirmation_ms int,
        trace_id bytea,
        primary key (id, at)
      ) partition by range (at);
      create index on audit (tenant, principal, at);
      create index on audit using brin (at);

      create table intents (
        id uuid not null,
        at timestamptz not null,
        begun timestamptz not null default now(),
        kind text not null,
        tenant int not null,
        principal text not null,
        replica smallint not null,
        server text not null,
        tool text not null,
        args_digest bytea not null
      ) partition by range (begun);

      create table questions (
        tenant int not null,
        id text not null,
        principal text not null,
        server text not null,
        tool text not null,
        args_digest bytea not null,
        asked bytea not null,
        until timestamptz not null,
        state text not null default 'open',
        answer bytea,
        answered_by text,
        number bigint generated always as identity,
        primary key (tenant, id)
      );
      create index on questions (tenant, principal) where state = 'open';

      create unlogged table buckets (
        key_digest bytea primary key,
        tokens float8 not null,
        taken float8 not null,
        at timestamptz not null
      ) with (fillfactor = 70);

      create table api_keys (
        id text primary key,
        tenant int not null,
        principal text not null,
        hash bytea not null,
        scopes text[] not null,
        role text not null,
        networks text[] not null,
        expires_at timestamptz,
        created_by text not null,
        last_used_day text,
        at timestamptz not null default now()
      );
      create index on api_keys (tenant);

      create table consumed (
        id_digest bytea primary key,
        until timestamptz not null
      );

      create table revocations (
        tenant int not null,
        principal text not null,
        issued_before timestamptz not null,
        until timestamptz not null,
        primary key (tenant, principal)
      );

      create table replicas (
        id smallint primary key,
        address text not null,
        version text not null,
        config_version bigint not null default 0,
        config_problem text,
        is_draining boolean not null default false,
        started_at timestamptz not null,
        seen_at timestamptz not null default now()
      );

      -- Up to when a job that all replicas share has done its work.
      create table jobs (
        name text primary key,
        done_until timestamptz not null
      );
    `,
  },
  {
    name: "messages between replicas",
    statements: `
      create sequence message_numbers;
      create table messages (
        number bigint primary key default nextval('message_numbers'),
        address_digest bytea not null,
        key_digest bytea,
        encrypted bytea not null,
        until timestamptz not null,
        unique (address_digest, key_digest)
      );
    `,
  },
  {
    name: "people: groups of users, used answers, what replicas report",
    statements: `
      create table users (
        tenant int not null,
        principal text not null,
        groups text[] not null,
        seen_at timestamptz not null default now(),
        primary key (tenant, principal)
      );
      create index on questions (tenant, principal, args_digest);
      alter table replicas add column spool_rows int not null default 0;
      alter table replicas add column policy_read_at timestamptz;
    `,
  },
  {
    name: "groups of the token that was issued last",
    statements: "alter table users add column issued_at timestamptz;",
  },
];
