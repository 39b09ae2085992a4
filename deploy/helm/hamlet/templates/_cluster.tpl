{{/* The cluster, of a stream or of a batch. */}}
{{- define "hamlet.cluster" -}}
rayVersion: {{ .Values.ray.version | quote }}
{{- if .Values.ray.auth.enabled }}
authOptions:
  mode: token
  {{- with .Values.ray.auth.existingSecret }}
  secretName: {{ . | quote }}
  {{- end }}
{{- end }}
{{- with .Values.ray.redis }}
{{- if .address }}
gcsFaultToleranceOptions:
  redisAddress: {{ .address | quote }}
  {{- if .passwordSecret }}
  redisPassword:
    valueFrom:
      secretKeyRef:
        name: {{ .passwordSecret | quote }}
        key: {{ .passwordKey | quote }}
  {{- end }}
{{- end }}
{{- end }}
{{- with .Values.workers.autoscaling }}
enableInTreeAutoscaling: {{ .enabled }}
{{- if .enabled }}
autoscalerOptions:
  version: v2
  imagePullPolicy: {{ $.Values.image.pullPolicy }}
  idleTimeoutSeconds: {{ .idleTimeoutSeconds }}
  resources:
    requests: {cpu: 500m, memory: 512Mi}
    limits: {cpu: 500m, memory: 512Mi}
  securityContext:
    {{- include "hamlet.containerSecurity" $ | nindent 4 }}
  # It speaks to Ray as the head does: with or without a token, and with certificates where the head has some.
  env:
    - name: HOME
      value: /tmp
    {{- if not $.Values.ray.auth.enabled }}
    {{- include "hamlet.token" $ | nindent 4 }}
    {{- end }}
    {{- with $.Values.env }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumeMounts:
    - name: tmp
      mountPath: /tmp
    - name: kubernetes
      mountPath: /var/run/secrets/kubernetes.io/serviceaccount
      readOnly: true
    {{- with $.Values.volumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
{{- end }}
headGroupSpec:
  rayStartParams:
    # Aggregators and executors go to workers.
    num-cpus: "0"
    dashboard-host: "0.0.0.0"
  template:
    {{- include "hamlet.rayPod" (dict "context" . "group" .Values.head "name" "ray-head") | nindent 4 }}
workerGroupSpecs:
  - groupName: workers
    {{- with .Values.workers }}
    {{- if .autoscaling.enabled }}
    replicas: {{ .autoscaling.minReplicas }}
    minReplicas: {{ .autoscaling.minReplicas }}
    maxReplicas: {{ .autoscaling.maxReplicas }}
    {{- else }}
    replicas: {{ .replicas }}
    minReplicas: {{ .replicas }}
    maxReplicas: {{ .replicas }}
    {{- end }}
    {{- end }}
    rayStartParams:
      # Routers ask for no core, but for a bit of this: so they stay off the head. In such quotes the shell, the
      # operator and the autoscaler can all read it.
      resources: "'{\"hamlet-worker\": 1}'"
    template:
      {{- include "hamlet.rayPod" (dict "context" . "group" .Values.workers "name" "ray-worker") | nindent 6 }}
{{- end }}
