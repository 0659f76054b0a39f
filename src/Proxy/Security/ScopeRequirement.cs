using Microsoft.AspNetCore.Authorization;

namespace Billing.Proxy.Security;

/// <summary>Requires that a caller has a scope.</summary>
/// <param name="scope">One of <see cref="Scopes"/>.</param>
internal sealed class ScopeRequirement(string scope) : AuthorizationHandler<ScopeRequirement>, IAuthorizationRequirement
{
    public string Scope => scope;

    /// <inheritdoc/>
    protected override Task HandleRequirementAsync(AuthorizationHandlerContext context, ScopeRequirement requirement)
    {
        if (context.User.Identity is Caller caller && caller.Has(requirement.Scope))
        {
            context.Succeed(requirement);
        }
        return Task.CompletedTask;
    }
}
