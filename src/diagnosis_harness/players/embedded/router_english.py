"""The English phrases of the embedded router, by the reason they indicate (notation: `router_rules`)."""

from __future__ import annotations

from diagnosis_harness.application.routing import RoutingReason

PHRASES = {
    RoutingReason.ASKS_FOR_CAUSE: """
        why
        how come
        any idea|ideas|clue
        root cause|causes
        what|whats|what's|who|who's wrong|broken|broke
        what|whats|what's up with
        what|whats|what's is|was wrong|broken
        what|whats|what's going|happening|eating|causing|breaking|killing|blocking
        what|whats|what's is|was going|happening|eating|causing|breaking|killing|blocking|behind
        what's behind
        what happened|changed|caused|causes|broke|triggered
        what did change|happen
        which|what service|pod|dependency|node|host makes|causes|caused|leaks|slows|is|broke|eats
        which|what component|query|deploy|change|client makes|causes|caused|leaks|slows|is|broke|eats
        culprit|guilty
        caused by
        because of
        to blame
        where was|is|does the time
        is it|this us|the
        or is it
        or us
        explain|explains the errors|latency|outage|spike|failures
        bottleneck
        cause|causes|caused|reason|reasons
        where does|do|did the|this|that|it|all come
        come|comes|coming from
        who|what|which is|was hammering|flooding|hogging|blocking|overloading|using
        have|has broken|caused
        affected by
        the impact|effect|consequences of
        impact|effect|consequence|consequences
        walk|talk me through what happened|went
        what|whats|what's the cause|reason|trigger|culprit|impact
        what made
    """,
    RoutingReason.ASKS_TO_INVESTIGATE: """
        check|investigate|diagnose|analyse|analyze|debug|troubleshoot|compare|correlate|triage
        look|dig into|at
        pls|please look
        have|take a look
        find out
        find the cause
        tell me what|whats|what's is wrong
        tell me what's wrong
    """,
    RoutingReason.ASKS_FOR_STATE: """
        how many|much|slow|fast|long|bad|high
        what|which do|does|did the logs|log|metrics|spans|traces
        what|whats|what's is|was in the logs|log|metrics|spans|traces
        what|whats|what's in the logs|log|metrics|spans|traces
        is|are there an|a|any outage|incident|problem|issue|problems|issues|errors|spike
        healthy|normal|alive
        anything unusual|abnormal|weird|strange|odd|wrong|broken
        show|plot|graph me
        show the
        did the|it|that|this|anything|someone|we
        does the
        when did|does
        what|which services|pods|nodes|users|customers are affected|impacted|failing
        how is|are the|our
        doing
    """,
    RoutingReason.NAMES_SYMPTOM: """
        slow|slower|slowly|sluggish|lagging|hanging|hangs|hung|stuck|stalled|flapping|degraded
        error|errors|erroring|exception|exceptions|fault|faults
        fail|fails|failed|failing|failure|failures
        down|outage|unavailable|unreachable|broken|dead|crash|crashes|crashed|crashing|crashlooping
        timeout|timeouts|timing|timed
        time|times out
        spike|spikes|spiked|spiking|surge|jumped|dropped
        drops|collapsed|doubled|tripled|rising|growing|climbing
        keeps growing|restarting|failing|crashing|rising
        leak|leaks|leaking|leaked|saturated|exhausted|maxed|overloaded|throttled
        restarted|restarts|evicted|killed|oom|deadlock|deadlocks
        regression|regressed|worse
        backing up
        backlog
        can't|cannot|cant|couldn't|unable
        not working|ready|responding|loading|available
        nothing works
        no metrics|data|logs|traffic
        packet loss
        <status>
        is|are|seems|looks|was|feels|acting off|wrong|weird|strange|odd|funny
        something's|something|somethings is|seems|looks off|wrong
        wrong with
        on fire
        red|refused|rejected|refusing|rejecting|denied|laggy
        blank|intermittent|intermittently|unresponsive|unstable|unhealthy
        disconnect|disconnects|disconnected|disconnecting|reset|resets|drop
        dropping|lost|losing|missing|delayed|late|stale
        ages|forever|again and again
        does|do|did|is|are|was|not finish|go|work|respond|load|start|complete
        does|do|did|is|are|was|not through|arrive|come|loading|responding|working
        doesn't|doesnt|don't|dont|didn't|didnt|won't|wont|isn't|isnt|aren't|never
        run|ran|running out of
        went|gone up|down|from|through
        goes|go up|down
        high|higher|huge|increase|increased of retries|errors|timeouts|failures
        increasing|drop|decrease|decreased|lot of retries|errors|timeouts|failures
        evict|hammering|flooding|bad|overload|overloading|full|empty|broke|breaking|breaks
        exceeded|exceeds|exceeding|starved|blip|glitch|corrupt|corrupted|duplicate|duplicated|misbehaving|misbehaves
        complain|complains|complaining|complaints
        too many|much|long|slow
    """,
    RoutingReason.NAMES_TIME: """
        since|ago|now|today|tonight|yesterday|yesterday's|overnight|currently|recently|lately|still
        at the moment
        right now
        last|past|previous hour|hours|minutes|minute|night|day|days|week|weekend
        in|over the last|past
        this morning|afternoon|evening
        around midnight|noon
        before|after the|last deploy|rollback|release|upgrade|restart|error|errors|incident
        <clock>
        after|since|around|before lunch|noon|midnight|dawn
        last|yesterday night
        between <clock> and <clock>
    """,
    RoutingReason.PASTED_OUTPUT: """
        firing|alertmanager|resolved|severity|threshold|namespace|traceback|stacktrace|fatal|panic
        alert|alarm
        got paged|alerted
        oomkilled|crashloopbackoff|kubepodcrashlooping|imagepullbackoff|segfault
        readiness|liveness probe failed
        <exception>
    """,
    RoutingReason.NAMES_SUBJECT: """
        service|services|pod|pods|node|nodes|host|cluster
        database|db|redis|kafka|mysql|postgres|queue|broker
        gateway|ingress|proxy|frontend|backend|checkout|payment
        payments|cart|catalog|search|orders|billing|login
        latency|p50|p90|p95|p99|cpu|memory|disk|heap
        gc|throughput|traffic|lag|connections|rate|rates|qps|rps
        api|deploy|deployment|rollback|release|requests|user|users|customers|cache|thread|threads
        <measure>
    """,
    RoutingReason.NAMES_DOCUMENT: """
        runbook|runbooks|playbook|playbooks|handbook|manual|wiki|faq|doc|docs|documentation|documented
        postmortem|postmortems|post-mortem|retrospective|retro
        procedure|procedures|checklist|instructions|guideline|guidelines|policy|policies|tutorial
        known issues|issue
        sop
        guide|guides|architecture|diagram|diagrams|spec|specs
        incident|outage review|reviews|report|reports
        cheat sheet|sheets
        cheatsheet|process|processes|template|standard|standards
        criteria|convention|conventions|rule|rules|link|links|reference|overview|glossary|description|note|notes
        faqs|tutorials|manuals|kb|confluence|readme|changelog|agreement
    """,
    RoutingReason.ASKS_ABOUT_PAST: """
        similar|past|previous|earlier|old incident|incidents|outage|outages|case|cases
        did we learn
        we learned|learnt|learn
        lesson|lessons
        have we had|seen
        happened before
        how|when was|were the|that|this january|february|march|april|may|june
        how|when was|were the|that|this july|august|september|october|november|december
        summarize|summarise the|last|our
        when was the last time
        did we fix|solve|resolve
        how was it fixed|solved|resolved
        history of
    """,
    RoutingReason.ASKS_HOW_TO: """
        how to
        how do|can|should|could|would|must|does i|we|you|one|our|people
        what should|do|must|can|shall i|we|you
        what is|are the steps|way
        step|steps to|for|by
        best practice|practices|way
        explain|describe how|the
        teach|tell|show me how
        how often|frequently
        can|may|should|must i|we restart|delete|remove|drop|scale|upgrade|disable|skip|run
        can|may|should|must i|we use|change|roll|stop|kill|reboot|increase|drain|deploy
        am i|are we allowed
        is it safe|ok|okay|allowed|possible|necessary|required|recommended to
        when|where do|should|must|can i|we|you
        proper|right|correct|safe|safest|best way
        need|want the|some steps|commands|command|instructions
        command|commands to|for
        the rollback|restart|recovery|upgrade steps
        what to do
        way|ways to
        how|when|where to
        what|which metric|metrics|order should
        in which|what order
        order of
        restart|startup|shutdown order
        should i|we
        tips for|on
        prerequisite|prerequisites
        walk|talk|guide me|us through
        remind me|us
        i|we forgot
        how one|does one|would one
        how exactly do|to
        what must|needs to
        example|examples of|for
        steps|commands|prerequisites
        how are|is we|one supposed to
        am|are i|we supposed to
        required before|to
        how best to
    """,
    RoutingReason.ASKS_MEANING: """
        mean|means|meaning|definition|define|defined
        stand|stands for
        difference|differences between
        what is|are|does alert|alerts for
        is for
        what|whats|what's is a|an
        what are <measure>
        how does|do <status>|a|an differ
        compared to
        difference|differences
        vs|versus
        what does it|that|this mean|say
        what exactly is
        what do we mean|call
        term|terms|terminology|concept|acronym|abbreviation
        compare|compared with|to
    """,
    RoutingReason.ASKS_WHO: """
        who|which owns|own|maintains|team|teams
        who|whom do|should|can i|we page|call|contact|ask|escalate
        who|whom to page|call|contact|ask
        on-call|oncall for
        escalation|escalate
        responsible for
        contact|contacts|phone|number for|of
        contact person|details
        who|whom is|are on call|duty
        who's on call|duty
        who approves|signs|decides|maintains|supports|handles|is
        who|whom to inform|notify|tell|involve
        who gets|needs|must|will|has to|be|woken
        who gets|needs woken|paged|called|informed
        whose approval|job|service
        who can|could|may approve|help|grant|give
    """,
    RoutingReason.ASKS_FOR_SETTING: """
        which port|version|setting|variable|parameter|flag|value
        recommended|default
        how long do|should|must|are we|i|the|traces|logs|metrics|backups|you
        what should the
        should be|be set
        retention|rto|rpo|slo|sla|slos|slas
        should
        env|environment variable|variables
        which env|config
        the limit|quota of|for
        maximum|minimum allowed|size|number
        how many replicas|instances|nodes|copies should|do|must
        what's|what|whats value|values
        when is|does|do the backup|backups|maintenance|job
        freeze|maintenance window
        running on version
    """,
    RoutingReason.ASKS_FOR_FACT: """
        what|whats|what's is|are
        what|whats|what's the|our|a|an
        what did|does|do the|our
        where can|do|is|are
        explain|describe
    """,
    RoutingReason.ASKS_ABOUT_SYSTEM: """
        who|what are you
        who made|built|wrote|trained you
        what|whats|what's your name
        what|which can|do|could you|u see|do|access|know|read|use|offer|support|have
        what|which tools|data|sources|services|metrics|languages|source|things can|do|could you|u
        data sources do|can you
        do|can|will|did|are you|u able|remember|speak|understand|support|know|have|see
        do|can|will|did|are you|u access|learn|read|fix|restart|heal|act
        what kind|kinds|sort of questions|data|things
        can i ask
        how do|can|does you|this work|help
        are you a|an|real|human|able
        about you|yourself
        introduce|describe yourself
        on your own
        do you have access
        what is|are|was this
        what is|are|was your
        what|which llm|model|ai|version are|do you
        are|is my|our questions|data|chats|conversations stored|saved|logged|private|kept
        are my|our questions|chats
        how can|could|would you|u help
        how do|can|to i|we use you|this
        what|which should|can|could|may i ask you|u
        can|could|may i ask|upload|paste|send
        how good|reliable|fast|smart|old are you
        what|which services|sources|entities|components exist
        what|which services|sources|entities|components are there|known|available|visible
        list|show|name the|all|your|me services|sources|entities
        list|show|name all|me the|your services|sources|entities
    """,
    RoutingReason.OUT_OF_SCOPE: """
        poem|joke|jokes|story|song|recipe|weather|translate|movie|football|horoscope|essay|lyrics
        capital of
        meaning|purpose of life
        what time is it
        vote|sing|song|songs|stock|stocks|lottery
        dinner|restaurant|holiday|birthday|politics|president|married
        funny
        plus|minus|multiplied|divided|calculate
        times <measure>
        how old|tall is
        who won|wrote|invented
        book|books|music|game|games|news
    """,
    RoutingReason.ADDRESSES_SYSTEM: """
        you|u|your|yourself
        can|could|would|will you|u
    """,
    RoutingReason.GREETING: """
        hi|hello|hey|yo|howdy|greetings
        good morning|afternoon|evening|night
        thanks|thank|thx|ty|cheers
        thank you
        bye|goodbye
        see you
        ok|okay|fine|great|perfect|nice|cool|awesome
        nice|good|great|well work|job|done
        got it
        never mind
        help
        ping|test|testing
        what's|whats up
        sorry
        wrong window|chat|channel
        my bad|mistake
        no problem|worries
        how are you
        nevermind|welcome|please
    """,
    RoutingReason.FOLLOWS_BEFORE: """
        and
        and what|how about
        what|how about
        what comes|is next|after
        are you sure
        before that
        after that
        that one
        that
        it
        the same
        next step
        step
    """,
}

REQUESTS = """
do|can|did you|u see a|an|any|anything|something|errors|timeouts|problems|issues
can|could|would|will you|u check|look|find|tell|show|investigate|compare|explain|give|help
"""
"""Polite ways to ask, which say nothing about the subject and so support no path."""
