{{/* Names begin with a letter, as Ray's operator wants it, and leave room for what it appends. */}}
{{- define "hamlet.fullname" -}}
{{- $name := .Values.fullnameOverride | default (hasPrefix "hamlet" .Release.Name | ternary .Release.Name (printf "hamlet-%s" .Release.Name)) -}}
{{- /* What is cut off tells two long names apart, so a digest stands for it. */ -}}
{{- if gt (len $name) 40 }}{{ $name = printf "%s-%s" ($name | trunc 31 | trimSuffix "-") (sha256sum $name | trunc 8) }}{{ end -}}
{{- $name -}}
{{- end }}

{{- define "hamlet.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (.Values.serviceAccount.create | ternary (include "hamlet.fullname" .) "default") -}}
{{- end }}

{{- define "hamlet.claim" -}}
{{- with .Values.checkpoint.claim -}}
{{- .existing | default (.create | ternary (printf "%s-state" (include "hamlet.fullname" $)) "") -}}
{{- end -}}
{{- end }}

{{- define "hamlet.workload" -}}
{{- .Values.workload.existingConfigMap | default (printf "%s-workload" (include "hamlet.fullname" .)) -}}
{{- end }}

{{/* Ray's operator calls its secret as the cluster. */}}
{{- define "hamlet.tokenSecret" -}}
{{- .Values.ray.auth.existingSecret | default (include "hamlet.fullname" .) -}}
{{- end }}

{{- define "hamlet.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}
{{- else -}}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* What pods are found by: never changes. Values are quoted, since a release may be called `y` or `1e3`. */}}
{{- define "hamlet.selector" -}}
app.kubernetes.io/name: "hamlet"
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "hamlet.labels" -}}
{{ include "hamlet.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- end }}
