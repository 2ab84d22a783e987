/** JSON schemas of what the deployment files use of Compose and Kubernetes. A key that is not here is a misspelt one. */

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: "string", minLength: 1 };
const count: Schema = { type: "integer", minimum: 0 };
const yes: Schema = { const: true };
const no: Schema = { const: false };
const listOf = (items: Schema): Schema => ({ type: "array", minItems: 1, items });
const mapOf = (values: Schema): Schema => ({ type: "object", minProperties: 1, additionalProperties: values });
/** @param needed The names of the properties that must be there, separated by spaces. */
const object = (properties: Readonly<Record<string, Schema>>, needed = Object.keys(properties).join(" ")): Schema => ({
  type: "object",
  properties,
  required: needed === "" ? [] : needed.split(" "),
  additionalProperties: false,
});

const duration: Schema = { type: "string", pattern: "^[0-9]+s$" };
const service = object(
  {
    image: text,
    build: object({ context: text, dockerfile: text }),
    restart: { const: "unless-stopped" },
    environment: mapOf(text),
    depends_on: {
      anyOf: [listOf(text), mapOf(object({ condition: { enum: ["service_healthy", "service_started"] } }))],
    },
    read_only: yes,
    tmpfs: listOf(text),
    cap_drop: listOf(text),
    security_opt: listOf(text),
    stop_grace_period: duration,
    secrets: listOf(text),
    volumes: listOf({ type: "string", pattern: "^[^:]+:/[^:]+(:ro)?$" }),
    ports: listOf({ type: "string", pattern: "^127\\.0\\.0\\.1:[0-9]+:[0-9]+$" }),
    healthcheck: object({ test: listOf(text), interval: duration, timeout: duration, retries: count }),
  },
  "image restart",
);

export const compose = object({
  name: text,
  services: mapOf(service),
  secrets: mapOf(object({ file: { type: "string", pattern: "^\\./secrets/" } })),
  volumes: mapOf({ type: "null" }),
});

const labels = mapOf(text);
const selector = object({ matchLabels: labels });
const meta = object({ name: { const: "fairlead" } });
const of = (apiVersion: string, kind: string, spec: Schema, metadata = meta): Schema =>
  object({ apiVersion: { const: apiVersion }, kind: { const: kind }, metadata, spec });
const probe = (path: string): Schema =>
  object(
    {
      httpGet: object({ path: { const: path }, port: text }),
      periodSeconds: count,
      timeoutSeconds: count,
      failureThreshold: count,
    },
    "httpGet periodSeconds failureThreshold",
  );
const container = object({
  name: text,
  image: { const: "fairlead" },
  args: listOf(text),
  ports: listOf(object({ name: text, containerPort: count })),
  securityContext: object({
    allowPrivilegeEscalation: no,
    readOnlyRootFilesystem: yes,
    capabilities: object({ drop: { const: ["ALL"] } }),
  }),
  resources: object({ requests: object({ cpu: text, memory: text }), limits: object({ memory: text }) }),
  startupProbe: probe("/livez"),
  livenessProbe: probe("/livez"),
  readinessProbe: probe("/readyz"),
  volumeMounts: listOf(object({ name: text, mountPath: text, readOnly: yes }, "name mountPath")),
});
const pod = object({
  automountServiceAccountToken: no,
  enableServiceLinks: no,
  terminationGracePeriodSeconds: count,
  securityContext: object({
    runAsNonRoot: yes,
    runAsUser: { const: 10001 },
    runAsGroup: { const: 10001 },
    fsGroup: { const: 10001 },
    seccompProfile: object({ type: { const: "RuntimeDefault" } }),
  }),
  topologySpreadConstraints: listOf(
    object({ maxSkew: count, topologyKey: text, whenUnsatisfiable: text, labelSelector: selector }),
  ),
  containers: { ...listOf(container), maxItems: 1 },
  volumes: listOf(
    object(
      {
        name: text,
        configMap: object({ name: text }),
        secret: object({ secretName: text, defaultMode: count }),
        emptyDir: object({ sizeLimit: text }),
      },
      "name",
    ),
  ),
});
const port = object({ name: text, port: count, targetPort: text });
const peers = listOf(
  object(
    {
      namespaceSelector: { type: "object" },
      podSelector: selector,
      ipBlock: object({ cidr: text, except: listOf(text) }),
    },
    "",
  ),
);
const openPorts = listOf(object({ port: { anyOf: [count, text] }, protocol: { enum: ["TCP", "UDP"] } }));

/** By kind. */
export const manifests: Readonly<Record<string, Schema>> = {
  Deployment: of(
    "apps/v1",
    "Deployment",
    object({
      revisionHistoryLimit: count,
      strategy: object({
        type: { const: "RollingUpdate" },
        rollingUpdate: object({ maxUnavailable: { const: 0 }, maxSurge: count }),
      }),
      selector,
      template: object({ metadata: object({ labels }), spec: pod }),
    }),
  ),
  Service: of(
    "v1",
    "Service",
    object({ selector: labels, ports: listOf(port), clusterIP: { const: "None" } }, "selector ports"),
    object({ name: text }),
  ),
  HorizontalPodAutoscaler: of(
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    object({
      scaleTargetRef: object({
        apiVersion: { const: "apps/v1" },
        kind: { const: "Deployment" },
        name: { const: "fairlead" },
      }),
      minReplicas: { type: "integer", minimum: 2 },
      maxReplicas: count,
      metrics: listOf(
        object({
          type: { const: "Resource" },
          resource: object({
            name: { const: "cpu" },
            target: object({ type: { const: "Utilization" }, averageUtilization: count }),
          }),
        }),
      ),
      behavior: object({ scaleDown: object({ stabilizationWindowSeconds: count }) }),
    }),
  ),
  PodDisruptionBudget: of(
    "policy/v1",
    "PodDisruptionBudget",
    object({ minAvailable: { type: "integer", minimum: 1 }, selector }),
  ),
  NetworkPolicy: of(
    "networking.k8s.io/v1",
    "NetworkPolicy",
    object({
      podSelector: selector,
      policyTypes: { const: ["Ingress", "Egress"] },
      ingress: listOf(object({ from: peers, ports: openPorts })),
      egress: listOf(object({ to: peers, ports: openPorts }, "ports")),
    }),
  ),
};

export const kustomization = object({
  apiVersion: { const: "kustomize.config.k8s.io/v1beta1" },
  kind: { const: "Kustomization" },
  namespace: text,
  resources: listOf(text),
  labels: listOf(object({ pairs: labels, includeSelectors: yes })),
  images: listOf(object({ name: { const: "fairlead" }, newName: text, newTag: text })),
  configMapGenerator: listOf(object({ name: text, files: listOf(text) })),
});
