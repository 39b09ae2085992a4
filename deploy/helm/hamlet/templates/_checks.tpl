{{/* What a schema cannot say. Included by the first manifest of each mode. */}}
{{- define "hamlet.checks" -}}
{{- with .Values -}}
{{- if and (not .workload.queries) (not .workload.existingConfigMap) -}}
{{- fail "\n\nThere are no queries: set workload.queries (--set-file workload.queries=queries.sase), or name a ConfigMap with workload.existingConfigMap.\n" -}}
{{- end -}}
{{- if and .workload.queries .workload.existingConfigMap -}}
{{- fail "\n\nworkload.queries and workload.existingConfigMap exclude each other: leave one of them empty.\n" -}}
{{- end -}}
{{- if not .input.uri -}}
{{- fail "\n\nThere is no input: set input.uri, such as kafka://broker:9092/rides.\n" -}}
{{- end -}}
{{- if and (not .checkpoint.uri) (not (include "hamlet.claim" $)) -}}
{{- fail "\n\nThe state has no place: set checkpoint.uri, checkpoint.claim.existing, or checkpoint.claim.create=true.\n" -}}
{{- end -}}
{{- if and .workers.autoscaling.enabled (gt (int .workers.autoscaling.minReplicas) (int .workers.autoscaling.maxReplicas)) -}}
{{- fail (printf "\n\nworkers.autoscaling.minReplicas is %v and maxReplicas is %v: the first must not be larger.\n" .workers.autoscaling.minReplicas .workers.autoscaling.maxReplicas) -}}
{{- end -}}
{{- $pods := .workers.autoscaling.enabled | ternary .workers.autoscaling.maxReplicas .workers.replicas | int -}}
{{- $cores := mul $pods (int .workers.cpu) -}}
{{- $needed := add (int .job.actors) (mul (int .job.sparkExecutors) (int .job.sparkCores)) -}}
{{- if lt $cores $needed -}}
{{- fail (printf "\n\nThe job needs %d cores (job.actors, and job.sparkCores for each of job.sparkExecutors), and the workers have %d at most: raise workers.replicas (with autoscaling its maxReplicas) or workers.cpu.\n" $needed $cores) -}}
{{- end -}}
{{- if lt (int .workers.cpu) (int .job.sparkCores) -}}
{{- fail (printf "\n\nAn executor of Spark wants %d cores on one worker, and a worker has %s: raise workers.cpu, or lower job.sparkCores.\n" (int .job.sparkCores) .workers.cpu) -}}
{{- end -}}
{{- end -}}
{{- end }}
