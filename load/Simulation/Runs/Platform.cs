using Billing.Hosting;
using Billing.Simulation.Callers;
using Billing.Simulation.Kafka;
using Billing.Simulation.Receiving;
using Billing.Simulation.Services;
using Billing.Simulation.Store;
using Billing.Webhooks;

namespace Billing.Simulation.Runs;

/// <summary>The platform of a run: its processes, each of which may crash and is then restarted, and the brokers and
/// the event store that they use.</summary>
internal sealed class Platform
{
    private static readonly TimeSpan RestartDelay = TimeSpan.FromSeconds(1);

    private readonly Scheduler _scheduler;
    private readonly Dictionary<(string Role, int Number), TimeSpan> _clocks = [];
    private readonly Dice _dice;
    private readonly Trace _trace;
    private readonly ProxyNode[] _proxies;
    private readonly PaymentBackendNode[] _payments;
    private readonly BalanceBackendNode[] _balances;
    private readonly WebhookNode[] _webhooks;
    private readonly PendingTables _pending;
    private int _started;

    public Platform(Scheduler scheduler, Dice dice, Settings settings, Trace trace)
    {
        _scheduler = scheduler;
        Settings = settings;
        _dice = dice;
        _trace = trace;
        Brokers = new Brokers(scheduler, dice, settings.Partitions) { LatencyMs = settings.LatencyMs };
        Store = new StoreServers(scheduler, dice, settings);
        Store.Begin(Clients.Stream(0), settings.HistoryEvents, settings.OpeningLimits);
        _proxies = [.. Enumerable.Range(0, settings.Proxies).Select(NewProxy)];
        _payments = [.. Enumerable.Range(0, settings.PaymentBackends).Select(NewPayments)];
        _balances = [.. Enumerable.Range(0, settings.BalanceBackends).Select(NewBalances)];
        WebhookDatabase = new StoreServer(scheduler, dice, new StoreHistory(), "webhooks", []);
        Receivers = new Receivers(scheduler, new Dice(settings.Seed));
        _pending = new PendingTables(
            () => WebhookDatabase.Time, Receivers.Options.RetryFor, RetrySchedule.Longest(Receivers.Options));
        _webhooks = [.. Enumerable.Range(0, settings.WebhookServices).Select(NewWebhooks)];
    }

    /// <summary>The kinds of processes.</summary>
    public static IReadOnlyList<string> Roles { get; } = ["proxy", "payments", "balances", "webhooks"];

    /// <summary>The settings that processes are started with at present.</summary>
    public Settings Settings { get; private set; }

    public Brokers Brokers { get; }

    public StoreServers Store { get; }

    public IReadOnlyList<ProxyNode> Proxies => _proxies;

    public IReadOnlyList<PaymentBackendNode> Payments => _payments;

    public IReadOnlyList<BalanceBackendNode> Balances => _balances;

    public IReadOnlyList<WebhookNode> Webhooks => _webhooks;

    /// <summary>The database of the webhook services.</summary>
    public StoreServer WebhookDatabase { get; }

    /// <summary>Whom the webhook services send events to.</summary>
    public Receivers Receivers { get; }

    /// <summary>Number of events that wait for their receivers.</summary>
    public int PendingWebhooks => _pending.Waiting;

    /// <summary>Backends of both kinds.</summary>
    public IEnumerable<BackendNode> Backends => _payments.Concat<BackendNode>(_balances);

    /// <summary>Why a supervisor has ended a process, if no injected fault explains that.</summary>
    public string? Failure { get; private set; }

    /// <summary>Whether producing a record may have failed permanently, so that backends may end themselves.</summary>
    public bool MayFail { get; set; }

    public void CrashProxy(int number, TimeSpan down) =>
        Crash(_proxies[number].Node, down, () => _proxies[number] = NewProxy(number));

    public void CrashPayments(int number, TimeSpan down) =>
        Crash(_payments[number].Node, down, () => _payments[number] = NewPayments(number));

    public void CrashBalances(int number, TimeSpan down) =>
        Crash(_balances[number].Node, down, () => _balances[number] = NewBalances(number));

    public void CrashWebhooks(int number, TimeSpan down) =>
        Crash(_webhooks[number].Node, down, () => _webhooks[number] = NewWebhooks(number));

    public void StopPayments(int number, TimeSpan down) =>
        Stop(_payments[number].Node, _payments[number].Stop, down, () => _payments[number] = NewPayments(number));

    public void StopBalances(int number, TimeSpan down) =>
        Stop(_balances[number].Node, _balances[number].Stop, down, () => _balances[number] = NewBalances(number));

    public void StopWebhooks(int number, TimeSpan down) =>
        Stop(_webhooks[number].Node, _webhooks[number].Stop, down, () => _webhooks[number] = NewWebhooks(number));

    /// <summary>Suspends a process; if that lasts longer than the session timeout, its group evicts it.</summary>
    public void Freeze(Node node, TimeSpan time)
    {
        node.FrozenUntil = Math.Max(node.FrozenUntil, _scheduler.Now + time.Ticks);
        if (time > Group.SessionTimeout)
        {
            _scheduler.After(Group.SessionTimeout, null, () => Evict(node));
        }
    }

    /// <summary>Cuts a process off from the brokers; if that lasts longer than the session timeout,
    /// its group evicts it.</summary>
    /// <param name="node">The process.</param>
    /// <param name="time">For how long.</param>
    /// <param name="period">In which turns the connection holds and is cut; zero if it is cut all the time.</param>
    public void CutFromBrokers(Node node, TimeSpan time, TimeSpan period)
    {
        node.ToBrokers.Cut(time, period);
        if (time > Group.SessionTimeout && period == TimeSpan.Zero)
        {
            _scheduler.After(Group.SessionTimeout, null, () => Evict(node));
        }
    }

    /// <summary>Cuts a payment backend off for ever if there is another one that is not, and
    /// otherwise for a time.</summary>
    public void Isolate(Node node, TimeSpan time)
    {
        node.IsIsolated |= _payments.Count(p => !p.Node.IsIsolated) > 1;
        CutFromBrokers(node, node.IsIsolated ? TimeSpan.MaxValue : time, TimeSpan.Zero);
    }

    /// <summary>Makes a payment backend an older release, which is upgraded later.</summary>
    public void MakeOlder(int number, TimeSpan time)
    {
        var node = _payments[number].Node;
        node.IsOlder = true;
        _scheduler.After(time, null, () =>
        {
            if (_payments[number].Node == node)
            {
                CrashPayments(number, RestartDelay);
            }
        });
    }

    /// <summary>Pauses the machine of a process.</summary>
    public void PauseMachine(Node node, TimeSpan time)
    {
        Freeze(node, time);
        node.Paused += time;
    }

    /// <summary>Sets the wall clock of a process, and sets it back later.</summary>
    public void StepClock(Node node, TimeSpan time)
    {
        var step = _dice.Pick([TimeSpan.FromHours(1), TimeSpan.FromHours(-1)]);
        node.ClockAhead += step;
        _scheduler.After(time, null, () => node.ClockAhead -= step);
    }

    /// <summary>How many processes of a kind there are.</summary>
    public int CountOf(string role) => Of(role).Count;

    /// <summary>Sets the clock of a process's machine, which starts the process again.</summary>
    public void SetClock(string role, int number, TimeSpan ahead, TimeSpan down)
    {
        _clocks[(role, number)] = ahead;
        Of(role).Crash(number, down);
    }

    /// <summary>Changes the settings of the backends, and starts one after the other again.</summary>
    public void Change(Settings settings)
    {
        Settings = settings;
        var wait = TimeSpan.Zero;
        foreach (var number in Enumerable.Range(0, _payments.Length))
        {
            _scheduler.After(wait += RestartDelay, null, () => StopPayments(number, RestartDelay));
        }
        foreach (var number in Enumerable.Range(0, _balances.Length))
        {
            _scheduler.After(wait += RestartDelay, null, () => StopBalances(number, RestartDelay));
        }
    }

    /// <summary>Makes the groups take all partitions from a process.</summary>
    public void Evict(Node node)
    {
        foreach (var group in Brokers.Groups)
        {
            group.Evict(node.Name);
        }
    }

    private void Crash(Node node, TimeSpan down, Action restart)
    {
        if (node.IsAlive && !node.IsStopping)
        {
            _trace.Write(node.Name, "crashes");
            node.Crash();
            _scheduler.After(down, null, restart);
        }
    }

    private (int Count, Action<int, TimeSpan> Crash) Of(string role) => role switch
    {
        "proxy" => (_proxies.Length, CrashProxy),
        "payments" => (_payments.Length, CrashPayments),
        "balances" => (_balances.Length, CrashBalances),
        _ => (_webhooks.Length, CrashWebhooks),
    };

    private void Stop(Node node, Action stop, TimeSpan down, Action restart)
    {
        if (node.IsAlive && !node.IsStopping)
        {
            _trace.Write(node.Name, "stops");
            node.IsStopping = true;
            node.OnCrash(() => _scheduler.After(down, null, restart));
            stop();
        }
    }

    private ProxyNode NewProxy(int number) => Start(
        "proxy", number, () => CrashProxy(number, RestartDelay),
        node => new ProxyNode(node, Brokers, _started * 1_000_000L));

    private PaymentBackendNode NewPayments(int number) => Start(
        "payments", number, () => CrashPayments(number, RestartDelay),
        node => new PaymentBackendNode(node, Brokers, Store.All, Settings));

    private BalanceBackendNode NewBalances(int number) => Start(
        "balances", number, () => CrashBalances(number, RestartDelay),
        node => new BalanceBackendNode(node, Brokers, Store.All, Settings));

    private WebhookNode NewWebhooks(int number) => Start(
        "webhooks", number, () => CrashWebhooks(number, RestartDelay),
        node => new WebhookNode(node, Brokers, WebhookDatabase, _pending, Receivers));

    // Every service asks the brokers for their time, and those that use the event store its databases, before they
    // begin and from then on.
    private void TellTime(string role, Node node, SteadyTime time)
    {
        Brokers.TellTime(time);
        if (role == Roles[1] || role == Roles[2])
        {
            foreach (var database in Store.All)
            {
                database.TellTime(time);
            }
        }
        _scheduler.After(ClockVote.AskingInterval, node, () => TellTime(role, node, time));
    }

    private T Start<T>(string role, int number, Action crash, Func<Node, T> start)
        where T : class
    {
        var node = new Node($"{role}-{number}.{_started++}", _scheduler, Settings.IsSteady)
        {
            ClockAhead = (Settings.ClockSkewMs == 0
                ? TimeSpan.Zero
                : _dice.UpTo(2 * Settings.ClockSkewMs) - TimeSpan.FromMilliseconds(Settings.ClockSkewMs))
                + _clocks.GetValueOrDefault((role, number)),
            OpeningLimits = Settings.OpeningLimits,
            Failed = failed =>
            {
                Failure ??= MayFail ? null : $"{failed.Name}: {failed.Failure}";
                crash();
            },
        };
        _trace.Write(node.Name, "starts");
        if (node.Time is SteadyTime steady)
        {
            TellTime(role, node, steady);
            steady.Set();
        }
        T? started = null;
        node.Run(() => started = start(node));
        return started!;
    }
}
