"""Tokens, webhooks and personal data. `{{x}}` is a secret, `{x}` is not; `…` where a log may go on."""

from __future__ import annotations

# Beginnings of tokens are written in pieces, so that no scanner takes this file for a leak.
TOKENS: dict[str, tuple[str, ...]] = {
    "own keys": (
        "why does checkout reject dk_{{hex12}}_{{hex64}} ?…", "key=dk_{{hex12}}_{{hex64}}…", "[dk_{{hex12}}_{{hex64}}]…",
        "(dk_{{hex12}}_{{hex64}})…", "X-Key dk_{{hex12}}_{{hex64}}…", "用户用dk_{{hex12}}_{{hex64}}访问…",
    ),
    "cloud": (
        "key id AK" "IA{{up16}} denied…", "AS" "IA{{up16}}…", "gcp AI" "za{{url35}}…", "ya29" ".{{url43}}…",
        "GOC" "SPX-{{url27}}…", "LT" "AI5t{{an20}} denied…", "AK" "ID{{an32}}…", "dop" "_v1_{{hex64}}…", "da" "pi{{hex32}}…",
        "hv" "s.{{url24}}…", "NR" "AK-{{up16}}{{up11}}…", "shp" "at_{{hex32}}…", "tskey" "-auth-{{an12}}-{{an32}}…",
        "dp" ".pt.{{an43}}…", "gl" "sa_{{an32}}_{hex8}…", "pul" "-{{hex40}}…",
    ),
    "code and packages": (
        "remote gh" "p_{{an36}} refused…", "gh" "s_{{an36}}…", "github" "_pat_{{an22}}_{{an43}}…", "gl" "pat-{{url24}}…",
        "np" "m_{{an36}}…", "py" "pi-AgEIcHlwaS5vcmc{{url80}}…", "docker login dc" "kr_pat_{{url27}}…",
        "rubygems" "_{{hex32}}{{hex12}}…", "AT" "ATT3xFfGF0{{url80}}…", "fig" "d_{{url40}}…",
    ),
    "products": (
        "xo" "xb-{n12}-{n12}-{{an24}}…", "xo" "xp-{n12}-{n12}-{n12}-{{hex32}}…", "sk" "_live_{{an24}}…", "rk" "_live_{{an24}}…",
        "wh" "sec_{{an32}}…", "S" "G.{{url24}}.{{url43}}…", "h" "f_{{an36}}…", "sk" "-ant-api03-{{url93}}…",
        "sk" "-proj-{{url68}}…", "sk" "-{{an48}}…", "g" "sk_{{an48}}…", "x" "ai-{{an64}}…", "key" "-{{hex32}} mailgun…",
        "telegram bot {n10}:AA" "{{url32}} started…", "sq0" "atp-{{url24}}…",
        "lin" "_api_{{an40}}…", "nt" "n_{{an43}}…", "sentry https://{{hex32}}@o123.ingest.sentry.io/456…",
        "PM" "AK-{hex12}{hex12}-{{hex36}}…",
    ),
    "blocks": (
        "token {{jwt}} refused…", "jwt={{jwt}}…", "\"id_token\":\"{{jwt}}\"…", "GET /a?t={{jwt}} 401…",
        "-----BEGIN RSA PRIVATE " "KEY-----\n{{pembody}}\n-----END RSA PRIVATE " "KEY-----…",
        "-----BEGIN PRIVATE " "KEY-----\\n{{pembody}}\\n-----END PRIVATE " "KEY-----\\n…",
    ),
}  # fmt: skip

WEBHOOKS: dict[str, tuple[str, ...]] = {
    "webhooks": (
        "POST https://hooks.slack.com/services/T{up8}/B{up10}/{{an24}} 404…",
        "url: https://hooks.slack.com/workflows/T{up8}/A{up10}/{n18}/{{an24}}…",
        "https://hooks.slack.com/triggers/T{up8}/{n13}/{{hex32}}…",
        "POST https://discord.com/api/webhooks/{n18}/{{url68}} 429…",
        "https://discordapp.com/api/webhooks/{n19}/{{url68}}…",
        "https://acme.webhook.office.com/webhookb2/{{uuid}}@{uuid}/IncomingWebhook/{{hex32}}/{uuid} 200…",
        "https://outlook.office.com/webhook/{{uuid}}@{uuid}/IncomingWebhook/{{hex32}}/{uuid}…",
        "https://prod-12.westeurope.logic.azure.com/workflows/{hex32}/triggers/manual/paths/invoke?sp=run&sig={{url43}}…",
        "https://chat.googleapis.com/v1/spaces/AAAA/messages?key=AIza{{url35}}&token={{url43}}…",
        "https://oapi.dingtalk.com/robot/send?access_token={{hex64}}…",
        "https://open.feishu.cn/open-apis/bot/v2/hook/{{uuid}}…",
        "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={{uuid}}…",
        "https://{host}/hooks/{{an26}}…",
        "POST https://{host}/hooks/{an24}/{{an43}} 500…",
        "https://events.pagerduty.com/integration/{{hex32}}/enqueue…",
        "https://hooks.zapier.com/hooks/catch/123456/{{an16}}/…",
        "https://maker.ifttt.com/trigger/alert/with/key/{{url43}}…",
        "https://api.telegram.org/bot{n10}:AA{{url32}}/sendMessage…",
        "webhook_url: https://{host}/webhook/{{uuid}}…",
        "notify https://{host}/api/webhooks/{{an32}} failed…",
        "receiver url=https://{host}/alertmanager/webhook/{{hex40}} code=500…",
        "callback https://{host}/webhooks/incoming/{{url43}}…",
    ),
}

PERSONAL: dict[str, tuple[str, ...]] = {
    "mail": (
        "mail to {{mail}} failed…", "user={{mail}} status=locked…", "<{{mail}}>: Recipient address rejected…",
        "联系{{mail}}谢谢…", "to={{mailurl}}&x=1…", "login {{mail}}. Next try in 5 s…", "{\"email\":\"{{mail}}\"}…",
    ),
    "phone": (
        "call {{phone}} now…", "phone={{cnmobile}} ok…", "用户{{cnmobile}}登录失败", "{\"mobile\":\"{{cnmobile}}\"}…",
        "sms to {{usphone}} failed…", "电话：{{cnmobile}}，已登记", "customer phone: {{phone}}, vip=1…", "tel {{cngroups}}…",
    ),
    "papers": (
        "ssn {{ssn}} on file…", "paid with {{card}} ok…", "card={{cardplain}}…", "身份证{{cnid}}，已登记", "id {{cnid}} ok…",
        "iban={{iban}}…", "transfer to {{iban}} refused…", "IBAN: {{ibangroups}}, amount 12.00…", "收款账户 {{iban}}。已退回",
        "{\"iban\":\"{{iban}}\",\"n\":1}…", "konto {{ibangroups}}. Betrag 20 EUR…",
    ),
}  # fmt: skip
