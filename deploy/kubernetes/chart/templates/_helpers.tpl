{{- define "tapedeck.fullname" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}
{{- else if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Labels that selectors ask for. Takes a list: the root and the component. */}}
{{- define "tapedeck.selector" -}}
app.kubernetes.io/name: {{ (index . 0).Chart.Name }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "tapedeck.labels" -}}
{{ include "tapedeck.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ printf "%s-%s" (index . 0).Chart.Name (index . 0).Chart.Version }}
{{- end }}

{{/* Bytes of a size such as 10Gi. The schema lets no other units through. */}}
{{- define "tapedeck.bytes" -}}
{{- $units := dict "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 }}
{{- mul (regexFind "^[0-9]+" . | int64) (get $units (regexFind "[A-Z]i$" .) | int64) }}
{{- end }}

{{/* 80 % of a size, in bytes. */}}
{{- define "tapedeck.most" -}}
{{- div (mul (include "tapedeck.bytes" . | int64) 8) 10 }}
{{- end }}

{{/* 80 % of a limit of memory, as GOMEMLIMIT wants it. */}}
{{- define "tapedeck.gomemlimit" -}}
{{- div (include "tapedeck.most" . | int64) 1048576 }}MiB
{{- end }}

{{- define "tapedeck.podIP" -}}
- name: POD_IP
  valueFrom:
    fieldRef:
      fieldPath: status.podIP
{{- end }}

{{- define "tapedeck.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* Where pods go. Takes a list: the root, the component, its values. */}}
{{- define "tapedeck.scheduling" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "tapedeck.selector" . | nindent 8 }}
{{- with (index . 2) }}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}
{{- with (index . 0).Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "tapedeck.dns" -}}
- ports:
    - port: 53
      protocol: UDP
    - port: 53
      protocol: TCP
{{- end }}
