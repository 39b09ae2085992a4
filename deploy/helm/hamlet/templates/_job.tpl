{{/* The command that the job runs, as a JSON list. */}}
{{- define "hamlet.local_runner" -}}
{{- $values := .Values -}}
{{- $stream := eq $values.mode "stream" -}}
{{- $args := list "run" (printf "/etc/hamlet/workload/%s" $values.workload.key) -}}
{{- $args = concat $args (list "--input" $values.input.uri) -}}
{{- with $values.input.format }}{{ $args = concat $args (list "--input-format" .) }}{{ end -}}
{{- $args = concat $args (list "--time-column" $values.input.timeColumn "--type-column" $values.input.typeColumn) -}}
{{- $args = concat $args (list "--time-unit" $values.input.timeUnit) -}}
{{- if $stream -}}
{{- $args = concat $args (list "--follow" "--watch-workload" "--lateness" $values.input.lateness) -}}
{{- end -}}
{{- with $values.output.uri }}{{ $args = concat $args (list "--output" .) }}{{ end -}}
{{- if not (hasPrefix "kafka:" $values.output.uri) -}}
{{- $args = concat $args (list "--format" $values.output.format) -}}
{{- end -}}
{{- if $values.kafka.optionsSecret -}}
{{- $args = concat $args (list "--kafka-options" (printf "/etc/hamlet/kafka/%s" $values.kafka.optionsKey)) -}}
{{- end -}}
{{- $args = concat $args (list "--checkpoint" ($values.checkpoint.uri | default "/var/lib/hamlet/checkpoint")) -}}
{{- $args = concat $args (list "--name" (include "hamlet.fullname" .)) -}}
{{- with $values.job -}}
{{- $args = concat $args (list "--actors" (toString .actors) "--spark-executors" (toString .sparkExecutors)) -}}
{{- $args = concat $args (list "--spark-cores" (toString .sparkCores) "--spark-memory" .sparkMemory) -}}
{{- $args = concat $args (list "--numeric" .numeric) -}}
{{- if eq .numeric "float" -}}
{{- $args = concat $args (list "--sharing" .sharing) -}}
{{- if ne .sharing "never" }}{{ $args = concat $args (list "--planner" .planner) }}{{ end -}}
{{- end -}}
{{- $args = concat $args (list "--metrics-port" (toString $values.metrics.port) "--metrics-host" "0.0.0.0") -}}
{{- $args = concat $args (list "--log" .log) -}}
{{- $args = concat $args .extraArgs -}}
{{- end -}}
{{- $args | toJson -}}
{{- end }}

{{/* The same for a shell, which a RayJob's entry point goes through. */}}
{{- define "hamlet.entrypoint" -}}
{{- $words := list "python" "-m" "hamlet.cli.submit_entrypoint" -}}
{{- range include "hamlet.local_runner" . | fromJsonArray -}}
{{- $words = append $words (printf "'%s'" (replace "'" "'\\''" .)) -}}
{{- end -}}
{{- join " " $words -}}
{{- end }}
