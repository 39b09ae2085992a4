{{/* What all pods of the release have in common. */}}
{{- define "hamlet.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .Values.security.userId }}
runAsGroup: {{ .Values.security.userId }}
fsGroup: {{ .Values.security.fsGroup }}
# Of a large volume, only its root is looked at.
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "hamlet.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "hamlet.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Where a pod runs: the place of a group. */}}
{{- define "hamlet.placed" -}}
{{- with .priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- range $key, $value := . }}
  {{ $key | quote }}: {{ $value | quote }}
  {{- end }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "hamlet.token" -}}
{{- if .Values.ray.auth.enabled }}
- name: RAY_AUTH_MODE
  value: token
- name: RAY_AUTH_TOKEN
  valueFrom:
    secretKeyRef:
      name: {{ include "hamlet.tokenSecret" . | quote }}
      key: auth_token
{{- else }}
# Said in words: else Ray wants one.
- name: RAY_AUTH_MODE
  value: disabled
{{- end }}
{{- end }}

{{/* Head and workers: (dict "context" $ "group" .Values.head "name" "ray-head"). */}}
{{- define "hamlet.rayPod" -}}
{{- $ := .context -}}
metadata:
  labels:
    {{- include "hamlet.selector" $ | nindent 4 }}
    app.kubernetes.io/component: {{ .name | quote }}
    {{- range $key, $value := .group.labels }}
    {{ $key | quote }}: {{ $value | quote }}
    {{- end }}
  {{- with .group.annotations }}
  annotations:
    {{- range $key, $value := . }}
    {{ $key | quote }}: {{ $value | quote }}
    {{- end }}
  {{- end }}
spec:
  serviceAccountName: {{ include "hamlet.serviceAccount" $ | quote }}
  # Every container would get it. Only the autoscaler beside the head speaks to Kubernetes, and mounts one itself.
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: {{ add $.Values.job.drainSeconds 15 }}
  # Variables named after services would be taken for settings of Spark's.
  enableServiceLinks: false
  securityContext:
    {{- include "hamlet.podSecurity" $ | nindent 4 }}
  {{- include "hamlet.pullSecrets" $ | nindent 2 }}
  {{- include "hamlet.placed" .group | nindent 2 }}
  {{- with .group.spreadOver }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: {{ . | quote }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "hamlet.selector" $ | nindent 10 }}
          app.kubernetes.io/component: "ray-worker"
  {{- end }}
  initContainers:
    # Kernels and jars that come with the image, to where more can be put.
    - name: cache
      image: {{ include "hamlet.image" $ | quote }}
      imagePullPolicy: {{ $.Values.image.pullPolicy }}
      command: [cp, -R, /var/cache/hamlet/., /cache/]
      resources:
        requests: {cpu: 500m, memory: 128Mi}
        limits: {cpu: 500m, memory: 128Mi}
      securityContext:
        {{- include "hamlet.containerSecurity" $ | nindent 8 }}
      volumeMounts:
        - name: cache
          mountPath: /cache
  containers:
    - name: {{ .name }}
      image: {{ include "hamlet.image" $ | quote }}
      imagePullPolicy: {{ $.Values.image.pullPolicy }}
      {{- if eq .name "ray-head" }}
      ports:
        - name: gcs-server
          containerPort: 6379
        - name: dashboard
          containerPort: 8265
        - name: client
          containerPort: 10001
        # Not `metrics`: so the operator calls the port of Ray's own.
        - name: hamlet-metrics
          containerPort: {{ $.Values.metrics.port }}
      {{- end }}
      {{- if and (eq .name "ray-head") (eq $.Values.mode "stream") }}
      # The job finishes its epochs before Ray is told to end. Not of a batch: one that was stopped counts as done.
      lifecycle:
        preStop:
          exec:
            command:
              - hamlet
              - stop
              - {{ include "hamlet.fullname" $ | quote }}
              - --address
              - http://127.0.0.1:8265
              - --within
              - {{ printf "%ds" (int $.Values.job.drainSeconds) | quote }}
      {{- end }}
      env:
        - name: HAMLET_CACHE
          value: /var/cache/hamlet
        - name: NUMBA_CACHE_DIR
          value: /var/cache/hamlet/numba
        - name: HOME
          value: /tmp
        - name: RAY_JOB_STOP_WAIT_TIME_S
          value: {{ $.Values.job.drainSeconds | quote }}
        {{- if not $.Values.ray.auth.enabled }}
        {{- include "hamlet.token" $ | nindent 8 }}
        {{- end }}
        {{- with $.Values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with $.Values.envFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      resources:
        requests:
          cpu: {{ .group.cpu | quote }}
          memory: {{ .group.memory | quote }}
        limits:
          cpu: {{ .group.cpu | quote }}
          memory: {{ .group.memory | quote }}
      securityContext:
        {{- include "hamlet.containerSecurity" $ | nindent 8 }}
      volumeMounts:
        - name: tmp
          mountPath: /tmp
        - name: cache
          mountPath: /var/cache/hamlet
        {{- if eq .name "ray-head" }}
        # The folder, not the file: only so a change of the ConfigMap arrives.
        - name: workload
          mountPath: /etc/hamlet/workload
          readOnly: true
        {{- end }}
        {{- if $.Values.kafka.optionsSecret }}
        - name: kafka
          mountPath: /etc/hamlet/kafka
          readOnly: true
        {{- end }}
        {{- if include "hamlet.claim" $ }}
        - name: state
          mountPath: /var/lib/hamlet
        {{- end }}
        {{- with $.Values.volumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {}
    - name: cache
      emptyDir: {}
    {{- if eq .name "ray-head" }}
    - name: workload
      configMap:
        name: {{ include "hamlet.workload" $ | quote }}
    {{- end }}
    {{- with $.Values.kafka.optionsSecret }}
    - name: kafka
      secret:
        secretName: {{ . | quote }}
        defaultMode: 0440
    {{- end }}
    {{- with include "hamlet.claim" $ }}
    - name: state
      persistentVolumeClaim:
        claimName: {{ . | quote }}
    {{- end }}
    {{- if and (eq .name "ray-head") $.Values.workers.autoscaling.enabled }}
    # What Kubernetes would mount, for the autoscaler alone.
    - name: kubernetes
      projected:
        sources:
          - serviceAccountToken:
              path: token
              expirationSeconds: 3600
          - configMap:
              name: kube-root-ca.crt
              items:
                - key: ca.crt
                  path: ca.crt
          - downwardAPI:
              items:
                - path: namespace
                  fieldRef:
                    fieldPath: metadata.namespace
    {{- end }}
    {{- with $.Values.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
