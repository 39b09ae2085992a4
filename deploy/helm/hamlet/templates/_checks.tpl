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
{{- /* The range is that of Ray's workers. */ -}}
{{- if or (has (int .metrics.port) (list 6379 8080 8265 10001 44227 52365)) (and (ge (int .metrics.port) 10002) (le (int .metrics.port) 19999)) -}}
{{- fail (printf "\n\nmetrics.port is %d, where Ray listens itself: take another one, such as 9464.\n" (int .metrics.port)) -}}
{{- end -}}
{{- $writable := include "hamlet.claim" $ | empty | ternary list (list "/var/lib/hamlet") -}}
{{- range .volumeMounts }}{{ $writable = append $writable .mountPath }}{{ end -}}
{{- range $name, $path := dict "output.uri" .output.uri "checkpoint.uri" .checkpoint.uri -}}
{{- if hasPrefix "/" $path -}}
{{- $on := false -}}
{{- range $writable -}}
{{- $on = or $on (hasPrefix (printf "%s/" (trimSuffix "/" .)) (printf "%s/" $path)) -}}
{{- end -}}
{{- if not $on -}}
{{- fail (printf "\n\n%s is %s, which is on no volume, and pods cannot write elsewhere: set checkpoint.claim.create=true for /var/lib/hamlet, or mount a volume there with volumes and volumeMounts.\n" $name $path) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $pods := .workers.autoscaling.enabled | ternary .workers.autoscaling.maxReplicas .workers.replicas | int -}}
{{- $cores := mul $pods (int .workers.cpu) -}}
{{- $needed := add (int .job.actors) (mul (int .job.sparkExecutors) (int .job.sparkCores)) -}}
{{- if lt $cores $needed -}}
{{- fail (printf "\n\nThe job needs %d cores (job.actors, and job.sparkCores for each of job.sparkExecutors), and the workers have %d at most: raise workers.replicas (with autoscaling its maxReplicas) or workers.cpu.\n" $needed $cores) -}}
{{- end -}}
{{- /* Ray spreads the aggregators over the workers first; what they leave of a worker must do for an executor. */ -}}
{{- $aggregators := div (sub (add (int .job.actors) $pods) 1) $pods -}}
{{- $left := max 0 (sub (int .workers.cpu) $aggregators) -}}
{{- if lt (mul $pods (div $left (int .job.sparkCores))) (int .job.sparkExecutors) -}}
{{- fail (printf "\n\nAn executor of Spark wants %d cores on one worker. A worker has %v, and up to %d of them are for aggregators, so that %d executors do not fit on %d workers: raise workers.cpu, or lower job.sparkCores.\n" (int .job.sparkCores) .workers.cpu $aggregators (int .job.sparkExecutors) $pods) -}}
{{- end -}}
{{- if ge (include "hamlet.mebibytes" .job.sparkMemory | int) (include "hamlet.mebibytes" .workers.memory | int) -}}
{{- fail (printf "\n\nAn executor of Spark wants %s of memory, and a worker has %s for it, aggregators and Ray: raise workers.memory, or lower job.sparkMemory.\n" .job.sparkMemory .workers.memory) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Of 6Gi, or of 1g as Java writes it. */}}
{{- define "hamlet.mebibytes" -}}
{{- $factors := dict "m" 1 "g" 1024 "t" 1048576 -}}
{{- mul (regexFind "^[0-9]+" . | int) (get $factors (regexFind "[mMgGtT]" . | lower)) -}}
{{- end }}
