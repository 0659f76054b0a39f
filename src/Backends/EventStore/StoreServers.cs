using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.Backends.EventStore;

/// <summary>The servers of the event store: one, or several of which one is the primary.</summary>
public sealed class StoreServers : IAsyncDisposable
{
    private readonly NpgsqlMultiHostDataSource? _several;

    /// <summary>Reads the servers from the connection string; connects to none yet.</summary>
    public StoreServers(IOptions<EventStoreOptions> options)
    {
        var builder = new NpgsqlDataSourceBuilder(options.Value.SessionConnectionString);
        if (options.Value.HasSeveralServers)
        {
            _several = builder.BuildMultiHost();
            Primary = _several.WithTargetSession(TargetSessionAttributes.Primary);
        }
        else
        {
            Primary = builder.Build();
        }
    }

    /// <summary>Connections to the primary.</summary>
    public NpgsqlDataSource Primary { get; }

    /// <summary>Forgets which of several servers is the primary, and which did not answer: the next connection asks them in turn. Until
    /// then only the one that was found is asked, so that a machine that is gone costs no time while another one answers. Sessions that
    /// nobody uses are closed: each of those with a machine that is gone would be asked for as long as a connection may take.</summary>
    public void LookForPrimary()
    {
        _several?.Clear();
        _several?.ClearDatabaseStates();
    }

    /// <summary>Closes the connections.</summary>
    public async ValueTask DisposeAsync()
    {
        await Primary.DisposeAsync();
        if (_several is not null)
        {
            await _several.DisposeAsync();
        }
    }
}
