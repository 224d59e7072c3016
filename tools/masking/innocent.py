"""Lines that hold no secret: logs, metrics, traces, code, numbers. Nothing of them may be masked."""

from __future__ import annotations

LOGS = (
    "{time} INFO [{pod}] http-nio-8080-exec-{small} c.a.s.OrderController - GET /api/v1/orders/{int} 200 {int}ms",
    "{time} ERROR [{pod}] upstream connect error or disconnect/reset before headers. reset reason: connection timeout",
    "{time} WARN HikariPool-1 - Connection is not available, request timed out after {int}ms (total=10, active=10, idle=0)",
    "{ip} - - [10/Oct/2023:13:55:36 +0000] \"GET /api/cart/{int} HTTP/1.1\" 502 {int} \"-\" \"Mozilla/5.0 (X11; Linux)\" {float}",
    "{ip} - admin [14/Nov/2023:22:13:20 +0000] \"POST /login HTTP/2.0\" 401 {int} rt={float} uct=\"0.000\"",
    "level=error ts={time} caller=main.go:{int} msg=\"rpc error: code = Unavailable desc = transport is closing\" trace_id={hex32}",
    "{{\"time\":\"{time}\",\"level\":\"warn\",\"service\":\"{svc}\",\"status\":{status},\"dur_ms\":{float},\"span_id\":\"{hex16}\"}}",
    "E1114 22:13:20.{n6} {int} reflector.go:{small}] failed to list *v1.Pod: Get \"https://{ip}:443/api/v1/pods?limit=500&resourceVersion=0\": dial tcp {ip}:443: i/o timeout",
    "kernel: [{float}] Out of memory: Killed process {int} (java) total-vm:{n8}kB, anon-rss:{n7}kB, file-rss:0kB",
    "Back-off restarting failed container {svc} in pod {pod}_default({uuid})",
    "Liveness probe failed: Get \"http://{ip}:8080/healthz\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
    "java.lang.NullPointerException: Cannot invoke \"String.length()\" because \"token\" is null",
    "\tat com.acme.auth.PasswordEncoder.matches(PasswordEncoder.java:{small})",
    "\tat com.acme.shop.TokenService.lambda$refresh$3(TokenService.java:{small}) ~[shop-1.{small}.jar:na]",
    "  File \"/usr/lib/python3.11/site-packages/app/secrets.py\", line {small}, in load_password",
    "panic: runtime error: index out of range [{small}] with length {small}; goroutine {int} [running]:",
    "#{small} 0x{hex16} in std::vector<int>::at() at /src/cart.cc:{small}",
    "Caused by: java.sql.SQLException: Access denied for user 'app'@'{ip}' (using password: YES)",
    "FATAL: password authentication failed for user \"app\" (SQLSTATE 28P01)",
    "Failed password for root from {ip} port {port} ssh2", "Failed password for invalid user admin from {ip} port {port} ssh2",
    "pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost={ip}",
    "Invalid token: expired {small} s ago", "token expired at {time}", "token validation failed: signature mismatch", "cookie: missing",
    "authorization failed for request {uuid}", "Authorization header is missing", "no credentials in request", "secret \"db-credentials\" not found",
    "secret/db-credentials created", "mounting secret volume tls-{svc} (attempt {small})", "Secret {svc}-tls updated, {small} keys",
    "password reset requested {small} times in {small} min", "password policy: min length 12", "wrong password, {small} attempts left",
    "user changed password {small} days ago", "passwords do not match", "pass rate {float} %", "test pass: {small} of {small}", "pass {small}/{small} done",
    "compass: calibrated", "bypass: enabled", "bypass=true", "first pass: {int} rows", "passed: {int}, failed: {small}", "pass through filter {small}",
    "unexpected token ',' at position {int}", "Unexpected token < in JSON at position {small}", "token bucket: {int} tokens left, refill {small}/s",
    "prompt_tokens={int} completion_tokens={int} total_tokens={int}", "max_tokens: {int}", "token_count={int}", "csrf token check passed",
    "session {uuid} closed after {float} s", "basic authentication is disabled", "bearer token rejected", "Basic tier, {small} nodes", "key rotation finished in {float} s",
    "cache key orders:{int}:v{small} missed", "primary key ({int}) already exists", "foreign key constraint \"orders_user_id_fkey\" violated", "key={svc} count={int}", "sort key: created_at",
    "api key quota: {small} of {int} used", "rate limit for API key: {int} rpm", "API key {small} of {small} expired",
    "DEBUG c.a.Auth secretRef={svc}-secret namespace=default", "tokens: {int}", "author: kim", "authority: {svc}:443", ":authority: {svc}.default.svc.cluster.local:8080",
    "clave primaria duplicada", "la clave foránea {small} falta", "senha inválida", "mot de passe incorrect", "Пароль неверный", "Passwort falsch", "密码错误", "密码错误次数: {small}", "口令已过期", "パスワードが違います", "비밀번호가 틀렸습니다", "hasło niepoprawne",
    "用户名或密码错误，剩余 {small} 次", "令牌已过期 {small} 秒", "密钥轮换完成，耗时 {int} 毫秒", "登录成功，用户 {int}", "订单 {n12} 已创建，金额 {float} 元", "耗时 {int} 毫秒，重试 {small} 次（共 {small} 次）",
)  # fmt: skip

COMMANDS = (
    "mkdir -p /var/lib/{svc}/data", "ssh -p {port} deploy@{ip} uptime", "scp -P {port} a.txt {ip}:/tmp", "cp -a /srv/a /srv/b", "ls -a /tmp", "tar -xzf {svc}-1.{small}.tgz -C /opt",
    "mysql -u root -p shop < dump.sql", "mysql -uroot -h {ip} -P 3306 shop", "psql -p 5432 -U app -h {ip} shop", "docker run -p 8080:80 -e MODE=prod {svc}:1.{small}", "docker run -d --name {svc} -p {port}:6379 redis:7",
    "curl -s -o /dev/null -w '%{http}' https://{svc}.example.com/health", "curl -u", "du -a /var/log", "redis-cli -h {ip} -p 6379 info", "redis-cli --latency -p 6380", "sort -u names.txt", "git push -u origin main",
    "git commit -a -m 'Fix token refresh'", "python -u app.py --port {port}", "id -u app", "sudo -u postgres psql", "date -u +%FT%TZ", "nc -u {ip}:{port}", "useradd -u 1001 -p", "passwd: Authentication token manipulation error", "passwd app", "passwd -l app",
    "kubectl get secret db-credentials -o yaml", "kubectl -n prod rollout restart deploy/{svc}", "helm upgrade {svc} ./chart --set image.tag=v1.{small}.0 --wait", "openssl passwd -6", "ps -p {int} -o pid,rss,cmd", "iptables -A INPUT -p tcp --dport {port} -j DROP", "nmap -p 1-1024 {ip}", "ldapsearch -x -H ldap://{ip} uid=bob",
    "java -Xmx2g -XX:+UseG1GC -jar {svc}.jar --server.port={port}", "./deploy.sh --env prod --retries {small} --timeout {small}s", "vault token lookup", "aws s3 ls s3://bucket/key/2024/01/", "jmeter -n -t plan.jmx -l out.jtl", "rsync -a --delete ./ {ip}:/srv/", "top -b -n 1 -u app",
)  # fmt: skip

IDENTIFIERS = (
    "trace_id={hex32} span_id={hex16} parent={hex16}", "traceparent: 00-{hex32}-{hex16}-01", "b3: {hex32}-{hex16}-1", "request_id={uuid}", "x-request-id: {uuid}", "X-Amzn-Trace-Id: Root=1-{hex8}-{hex24};Sampled=1", "uber-trace-id: {hex16}:{hex16}:0:1",
    "commit {hex40} (HEAD -> main, tag: v1.{small}.{small})", "Merge {hex7} into {hex7}", "image: registry.local/shop/{svc}:v1.{small}.0@sha256:{hex64}", "etag: \"{hex32}\"", "ETag: W/\"{hex16}-{hex8}\"", "md5={hex32}  {svc}.tgz", "sha1:{hex40}", "sha256:{hex64}", "sha512-{b64}", "index {hex7}..{hex7} 100644",
    "pod {pod} restarted {small} times", "node ip-10-0-{small}-{small}.eu-west-1.compute.internal NotReady", "arn:aws:iam::123456789012:role/secret-reader", "i-0{hex16} terminated", "vol-0{hex16} attached", "subnet-{hex8}", "projects/acme-prod/secrets/db-password/versions/{small}", "ami-0{hex16}", "run-{hex32} finished SUCCESS", "ses-{hex32}/run-{hex32}/call-{small}", "evidence ev-{hex12} of call rank_causes-{small}",
    "{svc}@1.{small}.{small}", "lodash@4.17.{small} -> 4.17.{small}", "@types/node@20.{small}.1", "com.acme.Cart@{hex8}", "go1.21.{small} linux/amd64", "version 2.{small}.0-rc.{small}+build.{int}", "Python 3.11.2", "openssl 3.0.{small} 19 Sep 2023", "psql (PostgreSQL) 15.{small}", "v1.{small}.0-alpha.{small}", "OS 5.15.0-{small}-generic",
    "{ip}:{port} -> {ip}:5432", "fe80::1ff:fe23:4567:{hex4}", "2001:db8:85a3::8a2e:370:{hex4}", "mac 02:42:ac:11:00:0{digit}", "{ip}/24", "urn:uuid:{uuid}", "kafka topic orders-{small} partition {small} offset {n9}", "git@github.com:acme/{svc}.git", "root@node-{small}:~#", "deploy@{ip}: Permission denied (publickey).", "snowflake id {n18}", "order {n12} paid", "invoice 2024-{n6}", "job {n8}.{small} done", "tid={n15}", "DE{small} region", "GB{small}", "row ES-{n6}",
    "https://shop.example.com/orders/{int}?page={small}&sort=asc", "http://{svc}:8080/charge?order={int}#a", "https://{svc}.internal/hooks/health", "https://docs.acme.io/webhooks/retry", "GET /webhook/status 200", "POST /api/webhooks/test 204", "https://hooks.acme.io/", "https://grafana.acme.io/d/{hex8}/overview?from={n13}&to={n13}", "https://github.com/acme/{svc}/commit/{hex40}", "https://github.com/acme/{svc}/pull/{int}", "https://discord.com/channels/{n18}/{n18}", "https://acme.slack.com/archives/C0{digit}ABCDEF/p{n13}00", "s3://bucket/2024/01/part-{n5}-{uuid}.parquet", "/var/lib/kubelet/pods/{uuid}/volumes/kubernetes.io~secret/tls",
)  # fmt: skip

NUMBERS = (
    "{n10} {float} {float}", "epoch {n10} ms {n13}", "{time},{svc},{float},{int},{float}", "cpu_percent={float} mem_bytes={n11}", "container_memory_working_set_bytes{{pod=\"{pod}\"}} {n11} {n13}", "http_requests_total{{code=\"{status}\",path=\"/a\"}} {int}", "http_request_duration_seconds_bucket{{le=\"0.5\"}} {int}", "rate(http_requests_total[5m]) = {float}", "heap={n11}", "heap grew to {n11} bytes", "rss: {n9} kB", "p99=+{float}% (+{int} ms)", "+{float} s", "+{int}", "delta +{n6} rows", "offset +{small}:00", "{float}e-{small}", "-{float}", "range {small}-{int}-{n5}",
    "lag {n9}", "{int} (20 s before the onset)", "rose from {float} to {float} at {time}", "between {time} and {time}", "{small} of {small} instances", "GC pause {float} ms, {n8}K->{n7}K({n8}K)", "load average: {float}, {float}, {float}", "iops {int}/{int}", "disk 0{digit}: {n12} bytes free", "tx {n11} rx {n11}", "latency_p90 {float} s (baseline {float} s)", "2023-11-14 22:13:20 - 22:23:20 UTC", "20231114221320", "2023/11/14 22:13", "14.11.2023 22:13:20", "1,{small}23,456 rows", "{n16}", "us {n16}", "ns {n19}", "id: {n10}, seq: {n9}", "port {port}", "1e{small}", "0x{hex8}", "±{float}", "{float}%", "[{n10}, {float}]", "[[{n13}, {int}], [{n13}, {int}]]",
    "SELECT * FROM orders WHERE id = {n11}", "SELECT password_hash IS NULL FROM users WHERE id = {int}", "INSERT INTO t VALUES ({int}, {int}, '{svc}')", "UPDATE sessions SET token_count = {int} WHERE id = {int}", "duration: {float} ms  statement: SELECT count(*) FROM tokens", "LIMIT {small} OFFSET {int}", "WHERE ts BETWEEN {n10} AND {n10}",
    "the alert fired {small} min after deploy {small} of {svc}", "phone rang", "about {int} calls a second ({int} before)", "sent to {int} users", "call {int} of {int}", "user {int} has {int} orders", "account {n8} closed", "number: {n8}", "to {n11} bytes", "customers: {n9}", "用户 {int} 的请求 {n10} 次", "号码 {small}", "内存使用 {n11} 字节", "从 {float} 升到 {float}（{time}）", "磁盘剩余 {n12} 字节",
)  # fmt: skip

OWN = (
    "{svc} is the cause: CPU ({pod} cpu_percent).", "{svc} is the cause of what {svc2} shows.", "{svc} cpu_percent began to change at {time} (20 s before the onset).", "{svc} latency_ms rose from {float} ms to {float} ms at {time} ({small} s after the onset).", "{pod} memory_bytes rose from {float} MiB to {float} MiB between {time} and {time}.", "{svc} error_rate was normal (+{float} robust standard deviations, {small} of {int} values looked at).",
    "{svc2} calls {svc} ({int} spans, {float} % failed).", "The onset is {time} (estimated, ± {small} s).", "{svc} ranks first with a score of {float}; {svc2} is next ({float}).", "confidence {float}, score {float}, {small} of {small} checks hold", "0 log lines of {svc} contain \"timeout\" ({int} looked at).", "no change of {svc} was recorded between {time} and {time}", "deployment {svc} v1.{small}.0 at {time} ({small} min before the onset)", "deadline: {small} s, tokens: {int} of {int}, tool calls: {small} of 60",
    "{svc} 是原因：CPU（{pod} cpu_percent）。", "{svc} 是 {svc2} 所见现象的原因。", "{svc} 的 cpu_percent 于 {time} 开始变化（早于起点 20 秒）。", "{svc} 的 latency_ms 从 {float} ms 升到 {float} ms（{time}，起点后 {small} 秒）。", "{pod} 的 memory_bytes 在 {time} 到 {time} 之间从 {float} MiB 升到 {float} MiB。", "起点是 {time}（估计，± {small} 秒）。", "{svc} 的错误率正常（{small} / {int} 个值）。", "置信度 {float}，得分 {float}，{small} 项检查成立", "{svc} 在此期间没有变更记录（查了 {int} 条）。", "证据 ev-{hex12}：排名第一，得分 {float}",
    "[{small}] rank_causes: {svc} {float}, {svc2} {float} ({time} to {time}, baseline {int} s)", "inspect_signal: {small} finding, {float} ms", "[  {float} s] walk_topology: {int} edges, {float} ms", "usage: 6 of 40 LLM calls, {small} of 60 tool calls, {n5} of 8000000 bytes",
)  # fmt: skip

ALL = {"logs": LOGS, "commands": COMMANDS, "identifiers": IDENTIFIERS, "numbers": NUMBERS, "own words": OWN}
