/** The Compose file and the manifests of Kubernetes: that they are well formed, and that their parts fit together. */

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { noteProgram, temporaryFolder } from "@fairlead/test-servers";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { readTeamSettings } from "../../src/settings/team-settings.ts";
import { compose as composeSchema, kustomization, manifests } from "./schemas.ts";

const folder = fileURLToPath(new URL("../../../../deploy", import.meta.url));
const ajv = new Ajv({ allErrors: true });
const read = (path: string): string => readFileSync(join(folder, path), "utf8");
/** Resolves aliases and merges, as Compose does. */
const readYaml = <Content>(path: string): Content => parse(read(path), { merge: true }) as Content;

/** Seconds that a replica takes at most to end: it waits for the balancers, then for its calls. */
const drain = 5 + 30;

interface ComposeFile {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly image: string;
        readonly build?: { readonly context: string; readonly dockerfile: string };
        readonly volumes?: readonly string[];
        readonly secrets?: readonly string[];
        readonly ports?: readonly string[];
        readonly stop_grace_period?: string;
        readonly read_only?: boolean;
        readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
      }
    >
  >;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, null>>;
}

describe("the Compose file", () => {
  const file = readYaml<ComposeFile>("compose/compose.yaml");
  const services = Object.entries(file.services);
  const replicas = services.filter(([, { build }]) => build !== undefined);

  it("has only keys of Compose, with values of their types", () => {
    expect(ajv.validate(composeSchema, file), ajv.errorsText()).toBe(true);
  });

  it("declares each secret, volume and service that it uses, and has the files that it mounts", () => {
    for (const [name, service] of services) {
      for (const secret of service.secrets ?? []) expect(file.secrets, name).toHaveProperty([secret]);
      for (const other of Object.keys(Array.isArray(service.depends_on) ? {} : (service.depends_on ?? {})))
        expect(file.services, name).toHaveProperty([other]);
      for (const mount of service.volumes ?? []) {
        const [source = ""] = mount.split(":");
        if (source.startsWith(".")) expect(existsSync(join(folder, "compose", source)), mount).toBe(true);
        else expect(file.volumes, mount).toHaveProperty([source]);
      }
    }
    const { build } = file.services["fairlead-1"] ?? {};
    expect(existsSync(join(folder, "compose", build?.context ?? "", build?.dockerfile ?? ""))).toBe(true);
  });

  it("runs two replicas that share nothing but PostgreSQL, settings and keys", () => {
    expect(replicas.map(([name]) => name)).toEqual(["fairlead-1", "fairlead-2"]);
    const own = replicas.map(([, { volumes = [] }]) => volumes.filter((mount) => !mount.startsWith(".")));
    expect(own).toEqual([["fairlead-1:/var/lib/fairlead"], ["fairlead-2:/var/lib/fairlead"]]);
    for (const [, replica] of replicas) {
      expect(replica.read_only).toBe(true);
      expect(Number.parseInt(replica.stop_grace_period ?? "", 10)).toBeGreaterThan(drain);
    }
  });

  it("balances over all replicas, without stickiness, and sends nothing twice", () => {
    const lines = read("compose/haproxy.cfg")
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "" && !line.startsWith("#"));
    const servers = lines.filter((line) => line.startsWith("server ")).map((line) => line.split(" ").slice(1));
    expect(servers).toEqual(replicas.map(([name]) => [name, `${name}:8080`]));
    expect(lines).toContain("balance roundrobin");
    expect(lines.filter((line) => /^(?:cookie|stick|hash-type|balance (?!roundrobin))/.test(line))).toEqual([]);
    expect(lines.filter((line) => line.startsWith("retry-on "))).toEqual(["retry-on conn-failure"]);
    const published = file.services["balancer"]?.ports?.[0]?.split(":").at(-1);
    expect(lines).toContain(`bind :${published}`);
  });
});

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** What is at a path such as `spec.ports.0.name`. */
function at(value: unknown, path: string): unknown {
  return path.split(".").reduce((inner, key) => (inner as Readonly<Record<string, unknown>>)[key], value);
}
const namesAt = (value: unknown, path: string): readonly unknown[] =>
  (at(value, path) as readonly { readonly name: string }[]).map(({ name }) => name);

describe("the settings", () => {
  it.for(["compose", "kubernetes"])(
    "of %s are accepted by the gateway, with the secrets of their files",
    async (name) => {
      await using secrets = await temporaryFolder();
      await secrets.write("database-url", "postgresql://fairlead:secret@postgres/fairlead\n");
      for (const file of ["fairlead-keys", "keys"])
        await secrets.write(file, `k1 ${Buffer.alloc(32, 7).toString("base64")}\n`);
      const text = read(`${name}/settings.json`).replaceAll(/\/run\/secrets\/(?:fairlead\/)?/g, `${secrets.path}/`);
      const { team } = (JSON.parse(text) as { readonly fairlead: { readonly team: unknown } }).fairlead;
      const settings = readTeamSettings(team, { env: {}, home: "/", cwd: "/", platform: "linux" });
      expect(settings.listen).toEqual({ address: "0.0.0.0", port: 8080 });
      expect(settings.store).toMatchObject({ url: "postgresql://fairlead:secret@postgres/fairlead", mode: "strict" });
      expect((settings.drain.wait + settings.drain.finish) / 1000).toBe(drain);
    },
  );
});

describe("the manifests", () => {
  const files = readdirSync(join(folder, "kubernetes")).filter((name) => name.endsWith(".yaml"));
  const own = files.filter((name) => name !== "kustomization.yaml");
  const toManifests = (text: string): readonly Manifest[] =>
    parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  const documents = own.flatMap((name) => toManifests(read(`kubernetes/${name}`)));
  const one = (kind: string): Manifest => {
    const [found, ...others] = documents.filter((document) => document.kind === kind);
    if (found === undefined || others.length > 0) throw new Error(`there is not exactly one ${kind}`);
    return found;
  };
  const pod = at(one("Deployment"), "spec.template.spec");
  const container = at(pod, "containers.0");

  it("have only keys of Kubernetes, with values of their types", () => {
    for (const document of documents) {
      const schema = manifests[document.kind];
      if (schema === undefined) throw new Error(`no schema for ${document.kind}`);
      expect(ajv.validate(schema, document), `${document.kind}: ${ajv.errorsText()}`).toBe(true);
    }
    const file = readYaml<{ readonly resources: readonly string[] }>("kubernetes/kustomization.yaml");
    expect(ajv.validate(kustomization, file), ajv.errorsText()).toBe(true);
    expect(file.resources.toSorted()).toEqual(own.toSorted());
  });

  it("select the pods of the deployment, and name its ports and volumes", () => {
    const labels = at(one("Deployment"), "spec.template.metadata.labels");
    expect(at(one("Deployment"), "spec.selector.matchLabels")).toEqual(labels);
    expect(at(one("PodDisruptionBudget"), "spec.selector.matchLabels")).toEqual(labels);
    expect(at(one("NetworkPolicy"), "spec.podSelector.matchLabels")).toEqual(labels);
    const ports = namesAt(container, "ports");
    for (const service of documents.filter(({ kind }) => kind === "Service")) {
      expect(at(service, "spec.selector")).toEqual(labels);
      expect(ports).toContain(at(service, "spec.ports.0.targetPort"));
    }
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"])
      expect(at(container, `${probe}.httpGet.port`)).toBe("mcp");
    expect(namesAt(container, "volumeMounts")).toEqual(namesAt(pod, "volumes"));
  });

  it("let a replica end its calls, and keep one running", () => {
    expect(at(pod, "terminationGracePeriodSeconds")).toBeGreaterThan(drain);
    const least = at(one("PodDisruptionBudget"), "spec.minAvailable");
    expect(at(one("HorizontalPodAutoscaler"), "spec.minReplicas")).toBeGreaterThan(Number(least));
  });

  it("mount the folder of each secret that the settings read, as Compose does", () => {
    const secretsIn = (path: string): readonly string[] =>
      [...read(path).matchAll(/\$\{file:([^}]+)\}/g)].map(([, file = ""]) => file);
    const { secrets } = readYaml<ComposeFile>("compose/compose.yaml");
    expect(secretsIn("compose/settings.json")).toEqual(["/run/secrets/database-url", "/run/secrets/fairlead-keys"]);
    for (const file of secretsIn("compose/settings.json")) expect(secrets).toHaveProperty([basename(file)]);
    expect(secretsIn("kubernetes/settings.json")).toHaveLength(2);
    for (const file of secretsIn("kubernetes/settings.json")) expect(dirname(file)).toBe("/run/secrets/fairlead");
    expect(at(container, "volumeMounts.1.mountPath")).toBe("/run/secrets/fairlead");
  });

  const version = String(spawnSync("kubectl", ["version", "--client"]).stdout);
  const kustomize = /Kustomize Version: v?(\S+)/.exec(version)?.[1];
  noteProgram("the manifests rendered", "kustomize", kustomize);

  it.runIf(kustomize !== undefined)("are rendered by kustomize, with the settings as a config map", () => {
    const command = ["kustomize", join(folder, "kubernetes")];
    const { stdout, stderr, status } = spawnSync("kubectl", command, { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const rendered = toManifests(stdout);
    const map = rendered.find(({ kind }) => kind === "ConfigMap");
    expect(map?.metadata.name).toMatch(/^fairlead-settings-/);
    const deployment = rendered.find(({ kind }) => kind === "Deployment");
    expect(at(deployment, "spec.template.spec.volumes.0.configMap.name")).toBe(map?.metadata.name);
    const image = at(deployment, "spec.template.spec.containers.0.image");
    expect(image).toMatch(/^registry\.company\.example\/fairlead:/);
  });
});
